"""The few calls of the CUDA driver that launch kernels, through ctypes, in torch's context."""

import ctypes
import os
import time
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_uint64, c_void_p
from pathlib import Path

from launch_plan import Launch, TensorMap

LOCAL_BYTES, REGISTERS, DYNAMIC_SHARED, LARGE_CLUSTERS = 3, 4, 8, 14
JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES = 5, 6
CLUSTER_DIMENSION = 4
L2_PROMOTION_128B = 2
NOT_READY = 600
UNSUPPORTED_PTX_VERSION = 222


class DriverError(Exception):
    """The driver refuses something."""


class _Attribute(ctypes.Structure):
    _fields_ = [("id", c_int), ("padding", c_int), ("value", c_uint * 16)]


class _Config(ctypes.Structure):
    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared_bytes", c_uint),
        ("stream", c_void_p),
        ("attributes", POINTER(_Attribute)),
        ("attribute_count", c_uint),
    ]


class Driver:
    """The driver; the caller's context is current."""

    def __init__(self) -> None:
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise DriverError(f"no CUDA driver: {error}") from error

    def call(self, name: str, *arguments) -> None:
        status = getattr(self.library, name)(*arguments)
        if status:
            text = c_char_p()
            self.library.cuGetErrorString(status, byref(text))
            words = text.value.decode() if text.value else "unknown error"
            if status == UNSUPPORTED_PTX_VERSION:
                words += "; assemble it into a cubin of the same name with a ptxas that knows this version"
            raise DriverError(f"{name}: {words} ({status})")

    def load(self, code: bytes, name: str) -> c_void_p:
        """The kernel `name` of PTX or a cubin."""
        log = ctypes.create_string_buffer(8192)
        options = (c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.cast(log, c_void_p), c_void_p(len(log)))
        module, function = c_void_p(), c_void_p()
        try:
            # The text ends with a zero byte, as the driver asks.
            self.call("cuModuleLoadDataEx", byref(module), code + b"\0", c_uint(2), options, values)
        except DriverError as error:
            said = log.value.decode(errors="replace").strip()
            raise DriverError(f"{error}\n{said}" if said else str(error)) from error
        self.call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def attribute(self, function: c_void_p, which: int) -> int:
        value = c_int()
        self.call("cuFuncGetAttribute", byref(value), c_int(which), function)
        return value.value

    def encode(self, tensor_map: TensorMap, place: int) -> None:
        """Writes the 128 bytes of a tensor map to `place`, which is a multiple of 64."""
        rank = len(tensor_map.sizes)
        self.call(
            "cuTensorMapEncodeTiled",
            c_void_p(place),
            c_int(tensor_map.element),
            c_uint(rank),
            c_void_p(tensor_map.address),
            (c_uint64 * rank)(*tensor_map.sizes),
            (c_uint64 * max(rank - 1, 1))(*tensor_map.strides),
            (c_uint * rank)(*tensor_map.box),
            (c_uint * rank)(*tensor_map.steps),
            c_int(0),
            c_int(tensor_map.swizzle),
            c_int(L2_PROMOTION_128B),
            c_int(tensor_map.fill),
        )


class Prepared:
    """A launch with its parameters encoded: calling it does nothing but launch."""

    def __init__(self, driver: Driver, function: c_void_p, launch: Launch, stream: int) -> None:
        self.driver, self.function = driver, function
        self.empty = 0 in launch.grid
        if launch.shared_bytes > 48 << 10:
            driver.call("cuFuncSetAttribute", function, c_int(DYNAMIC_SHARED), c_int(launch.shared_bytes))
        cluster = launch.cluster or (1, 1, 1)
        if cluster[0] * cluster[1] * cluster[2] > 8:
            driver.call("cuFuncSetAttribute", function, c_int(LARGE_CLUSTERS), c_int(1))

        count = len(launch.parameters)
        # Slots of 128 bytes from a multiple of 64 on: what a tensor map needs.
        self.storage = ctypes.create_string_buffer(128 * count + 64)
        start = -(-ctypes.addressof(self.storage) // 64) * 64
        self.pointers = (c_void_p * max(count, 1))()
        for index, parameter in enumerate(launch.parameters):
            place = start + 128 * index
            self.pointers[index] = place
            if isinstance(parameter, TensorMap):
                driver.encode(parameter, place)
            else:
                ctypes.memmove(place, parameter, len(parameter))

        self.attribute = _Attribute(CLUSTER_DIMENSION, 0, (c_uint * 16)(*cluster))
        self.config = _Config(
            (c_uint * 3)(*launch.grid),
            (c_uint * 3)(*launch.block),
            launch.shared_bytes,
            stream,
            ctypes.pointer(self.attribute),
            1 if launch.cluster else 0,
        )

    def __call__(self) -> None:
        if self.empty:
            return
        self.driver.call("cuLaunchKernelEx", byref(self.config), self.function, self.pointers, None)


def wait(driver: Driver, stream: int, what: str, seconds: float) -> None:
    """Waits for a stream; a kernel that does not end ends the process, since nothing else can."""
    deadline = time.monotonic() + seconds
    while (status := driver.library.cuStreamQuery(c_void_p(stream))) == NOT_READY:
        if time.monotonic() > deadline:
            print(f"error: {what} did not end within {seconds:g} s", flush=True)
            os._exit(1)
        time.sleep(0.0005)
    if status:
        driver.call("cuStreamQuery", c_void_p(stream))


def read_code(path: Path) -> bytes:
    """The bytes of a PTX file or a cubin."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DriverError(f"{path}: cannot be read: {error.strerror}") from error
