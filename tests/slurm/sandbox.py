"""A SLURM of one node on loopback: munged, slurmctld and slurmd of its own, without systemd or a database.

The node claims more CPUs than the machine may have, so that several cells run side by side; nothing is
pinned. Partition `low` may be pre-empted by partition `high`. `sacct`, which submitit asks what became of a
job, needs a database, so bin/sacct stands in for it.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
NUM_CPUS = 8
MAX_ARRAY_SIZE = 4

CONFIG = """
ClusterName=sandbox
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
# A requeued job waits until its old credential has expired: two minutes, if nothing is said.
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
# No cgroups: a container may not have them.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
# A pre-empted job gets the signal it asked for, as at its time limit.
SlurmctldParameters=preempt_send_user_signal
ReturnToService=2
KillWait=5
MaxArraySize={max_array_size}
MinJobAge=3600
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=low Nodes={host} Default=YES MaxTime=INFINITE PriorityTier=1 PreemptMode=REQUEUE GraceTime=30
PartitionName=high Nodes={host} MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF
"""


class SlurmSandbox:
    """Context manager: SLURM runs inside the block; `environment` is what its commands and clients need."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="icpo-slurm-"))
        self.environment = os.environ | {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{Path(__file__).parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }
        self._daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "SlurmSandbox":
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(self, *command: str) -> str:
        """What a SLURM command prints; CalledProcessError if it fails."""
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    def jobs(self) -> dict[str, str]:
        """The state of every job of this SLURM by its id; array tasks apart, as in 12_3."""
        rows = self.run("squeue", "-h", "-r", "-t", "all", "-o", "%i %T").split("\n")
        return dict(row.split() for row in rows if row)

    def close(self) -> None:
        """Cancels all jobs, stops the daemons, deletes the folder."""
        with suppress(subprocess.SubprocessError, OSError):
            self.run("scancel", "--user", str(os.getuid()))
            self.run("scancel", "--signal=KILL", "--full", "--user", str(os.getuid()))
            _wait_for(lambda: not set(self.jobs().values()) & {"RUNNING", "COMPLETING"}, seconds=15)
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> None:
        host = socket.gethostname().split(".")[0]
        self.folder.chmod(0o755)
        munge = self.folder / "munge"
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir(mode=0o755)
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o400)
        text = CONFIG.format(
            host=host,
            user=subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip(),
            folder=self.folder,
            cpus=NUM_CPUS,
            max_array_size=MAX_ARRAY_SIZE,
            controller_port=_free_port(),
            node_port=_free_port(),
        )
        (self.folder / "slurm.conf").write_text(text)
        self._daemon(
            "munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
            f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed",
        )  # fmt: skip
        _wait_for((munge / "socket").exists)
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D", "-N", host)
        _wait_for(lambda: "idle" in self._node_state(), seconds=30)

    def _daemon(self, *command: str) -> None:
        log = (self.folder / f"{command[0]}.out").open("wb")
        with log:
            self._daemons.append(
                subprocess.Popen(
                    command, env=self.environment, stdout=log, stderr=log, start_new_session=True
                )
            )

    def _node_state(self) -> str:
        try:
            return self.run("sinfo", "-h", "-p", "low", "-o", "%t")
        except subprocess.CalledProcessError:
            return ""


def is_installed() -> bool:
    """Whether Debian's slurm-wlm and munge are here."""
    return all(shutil.which(name) for name in NEEDED)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(condition, seconds: float = 10) -> None:  # type: ignore[no-untyped-def]
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds} s in vain")
        time.sleep(0.1)
