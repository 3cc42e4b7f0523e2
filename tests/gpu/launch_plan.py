"""From manifest, sizes and addresses to the numbers of one launch, as pipeline-run makes them."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

SCHEMA_VERSION = 1
GRID_LIMITS = (2**31 - 1, 65535, 65535)

# Bytes, and the number of CUtensorMapDataType: types that the driver lacks move as bits.
ELEMENTS = {
    "f8E4M3FN": (1, 0),
    "f8E5M2": (1, 0),
    "i8": (1, 0),
    "i16": (2, 1),
    "i32": (4, 3),
    "i64": (8, 5),
    "f16": (2, 6),
    "f32": (4, 7),
    "f64": (8, 8),
    "bf16": (2, 9),
    "tf32": (4, 11),
}
# The numbers of CUtensorMapSwizzle and CUtensorMapFloatOOBfill.
SWIZZLES = {"none": 0, "32b": 1, "64b": 2, "128b": 3, "128b_atom_32b": 4, "128b_atom_32b_flip_8b": 5, "128b_atom_64b": 6}
FILLS = {"zero": 0, "nan": 1}


class PlanError(Exception):
    """A manifest or sizes that make no launch."""


@dataclass(frozen=True)
class Tensor:
    """A memref argument with everything known; sizes and strides in elements, outermost first."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int


@dataclass(frozen=True)
class TensorMap:
    """What cuTensorMapEncodeTiled wants to know, innermost dimension first, strides in bytes."""

    address: int
    element: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    fill: int


@dataclass(frozen=True)
class Launch:
    """One launch; parameters are 8 bytes or tensor maps."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    shared_bytes: int
    parameters: tuple[bytes | TensorMap, ...]


def read_manifest(path: Path) -> dict:
    """The manifest in a file.

    Raises PlanError for a file that is none, or of another version.
    """
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["schema_version"]
        if version != SCHEMA_VERSION:
            raise PlanError(f"{path}: expected schema_version {SCHEMA_VERSION}, got {version}")
        if not isinstance(manifest["target"], str) or not isinstance(manifest["kernels"], list):
            raise PlanError(f"{path}: no manifest: target or kernels are of another type")
    except OSError as error:
        raise PlanError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise PlanError(f"{path}: no manifest: {error}") from error
    return manifest


def evaluate(expression, tensors: dict[int, Tensor], sm_count: int) -> int:
    """The value of a grid expression; `tensors` by the number of their argument."""
    if expression == "sm_count":
        return sm_count
    if not isinstance(expression, dict) or len(expression) != 1:
        raise PlanError(f"no grid expression: {expression!r}")
    ((operation, operand),) = expression.items()
    if operation == "const":
        return operand
    if operation == "dim":
        tensor = tensors.get(operand["argument"])
        if tensor is None or operand["dimension"] >= len(tensor.shape):
            raise PlanError(f"dim({operand['argument']}, {operand['dimension']}) has no value here")
        return tensor.shape[operand["dimension"]]
    if operation == "scalar":
        raise PlanError(f"scalar({operand['argument']}) has no value here")
    left, right = (evaluate(side, tensors, sm_count) for side in operand)
    if operation in ("floordiv", "ceildiv") and right == 0:
        raise PlanError("division by zero in the grid")
    match operation:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "floordiv":
            return left // right
        case "ceildiv":
            return -(-left // right)
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
    raise PlanError(f"no grid expression: {operation}")


def _grid(kernel: dict, tensors: dict[int, Tensor], sm_count: int) -> tuple[int, int, int]:
    if kernel["grid"] is None:
        raise PlanError(f"the manifest has no grid for kernel `{kernel['name']}`")
    grid = tuple(evaluate(expression, tensors, sm_count) for expression in kernel["grid"])
    for size, limit, cluster in zip(grid, GRID_LIMITS, kernel["cluster"] or (1, 1, 1)):
        if not 0 <= size <= limit:
            raise PlanError(f"the grid has {size} blocks in one dimension, allowed are 0 to {limit}")
        if size % cluster:
            raise PlanError(f"the grid has {size} blocks in one dimension, no multiple of the cluster's {cluster}")
    return grid


def _check_contract(argument: dict, tensor: Tensor) -> None:
    name, alignment = argument["name"], argument["alignment"]
    element_bytes = ELEMENTS[argument["element_type"]][0]
    if len(tensor.shape) != len(argument["shape"]):
        raise PlanError(f"argument `{name}` has rank {len(argument['shape'])}, given are {len(tensor.shape)} sizes")
    for given, declared in [*zip(tensor.shape, argument["shape"]), *zip(tensor.strides, argument["strides"])]:
        if declared is not None and given != declared:
            raise PlanError(f"argument `{name}` is declared with {declared}, given is {given}")
    if tensor.address % alignment:
        raise PlanError(f"argument `{name}` is at {tensor.address:#x}, no multiple of {alignment} bytes")
    for stride in tensor.strides[:-1]:
        if stride * element_bytes % alignment:
            raise PlanError(
                f"argument `{name}` needs strides of a multiple of {alignment} bytes, got {stride * element_bytes}"
            )


def _tensor_map(parameter: dict, tensor: Tensor) -> TensorMap:
    element_bytes, element = ELEMENTS[parameter["element_type"]]
    return TensorMap(
        address=tensor.address,
        element=element,
        # The driver refuses sizes and strides of 0; a tensor without elements is not touched.
        sizes=tuple(max(size, 1) for size in reversed(tensor.shape)),
        strides=tuple(max(stride * element_bytes, 16) for stride in reversed(tensor.strides[:-1])),
        box=tuple(reversed(parameter["box"])),
        steps=tuple(reversed(parameter["element_strides"])),
        swizzle=SWIZZLES[parameter["swizzle"]],
        fill=FILLS[parameter["fill"]],
    )


def _parameter(parameter: dict, tensors: dict[int, Tensor]) -> bytes | TensorMap:
    kind = parameter["kind"]
    tensor = tensors.get(parameter["argument"])
    if tensor is None:
        raise PlanError(f"a {kind} parameter refers to argument {parameter['argument']}, which has no value")
    match kind:
        case "tensor_map":
            return _tensor_map(parameter, tensor)
        case "pointer":
            value = tensor.address
        case "size":
            value = tensor.shape[parameter["dimension"]]
        case "stride":
            value = tensor.strides[parameter["dimension"]]
        case _:
            raise PlanError(f"parameters of kind {kind} are not supported here")
    return struct.pack("<Q", value)


def launch(kernel: dict, named: dict[str, Tensor], sm_count: int) -> Launch:
    """The launch of a kernel on arguments by name.

    Raises PlanError where the manifest's contract does not hold.
    """
    try:
        tensors = {}
        for index, argument in enumerate(kernel["arguments"]):
            if argument["kind"] != "memref" or argument["name"] not in named:
                raise PlanError(f"argument `{argument['name']}` has no value")
            tensors[index] = named[argument["name"]]
            _check_contract(argument, tensors[index])
        if kernel["wait_report"] is not None:
            raise PlanError("kernels that report waits are for pipeline-run: compile without --wait-timeout")
        return Launch(
            name=kernel["name"],
            grid=_grid(kernel, tensors, sm_count),
            block=tuple(kernel["block"]),
            cluster=tuple(kernel["cluster"]) if kernel["cluster"] else None,
            shared_bytes=kernel["dynamic_shared_bytes"],
            parameters=tuple(_parameter(parameter, tensors) for parameter in kernel["parameters"]),
        )
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise PlanError(f"kernel `{kernel.get('name')}`: the manifest is not valid: {error!r}") from error
