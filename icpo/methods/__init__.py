"""Methods: pure generators of requests, one per file."""

from icpo.methods.direct import BasePrompt, Direct
from icpo.methods.drive import Run, complete, drive
from icpo.methods.foreign import Foreign
from icpo.methods.me_icpo import MeIcpo
