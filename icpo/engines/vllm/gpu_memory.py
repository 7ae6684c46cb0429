"""Memory of this process's GPUs by NVML, if there are any."""

import os
from types import ModuleType

GIGABYTE = 1e9


def used_gb(num_devices: int) -> float | None:
    """Memory in use on this process's devices, GB; None without NVML."""
    nvml = _nvml()
    if nvml is None:
        return None
    handles = [_handle(nvml, device) for device in _own_devices(num_devices)]
    return float(sum(nvml.nvmlDeviceGetMemoryInfo(handle).used for handle in handles) / GIGABYTE)


def _own_devices(num_devices: int) -> list[str]:
    """The first devices that CUDA shows this process, by number or UUID."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(i) for i in range(num_devices)]
    return [name.strip() for name in names[:num_devices]]


def _handle(nvml: ModuleType, device: str) -> object:
    if device.isdigit():
        return nvml.nvmlDeviceGetHandleByIndex(int(device))
    return nvml.nvmlDeviceGetHandleByUUID(device)


def _nvml() -> ModuleType | None:
    try:
        import pynvml
    except ImportError:
        try:
            from vllm.third_party import pynvml
        except ImportError:
            return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    module: ModuleType = pynvml
    return module
