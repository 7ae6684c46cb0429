"""A cell belongs to the weights it was sampled with, also when nothing is left to sample."""

from icpo.backbones import Backbone
from icpo.engines.sources import locate
from icpo.errors import OtherResults
from icpo.evaluation.engine_pool import EngineSettings
from icpo.store import CellRecords

FACT = "weights"


def require_weights(records: CellRecords, engine: EngineSettings, backbone: Backbone) -> None:
    """Notes the digest of a local folder in the manifest. Raises OtherResults where it was another one.

    Cells of earlier versions name it in their engine's identity alone.
    """
    if not (getattr(engine, "loads_weights", False) and backbone.is_local):
        return
    revision = locate(backbone).revision
    identity = str(records.manifest.get("resolved", {}).get("engine_identity", revision))
    if "sha256:" in identity and revision not in identity:
        raise OtherResults(
            f"{records.folder} holds results of other weights than {backbone.location} has now "
            f"({identity}). Bring back what it was, or choose another run_name."
        )
    records.resolve({FACT: revision})
