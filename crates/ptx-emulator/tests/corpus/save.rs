//! Writes a launch and what the emulator made of it to files, so that a machine with a GPU can run
//! the same and compare every byte.
//!
//! `NAME.json` has the launch, `NAME.ptx` the kernel, `NAME.before` and `NAME.after` the bytes of all
//! buffers one after the other.

use std::{fs, path::PathBuf};

use ptx_emulator::{
    memory::GlobalMemory,
    tensor_map::{MAP_BYTES, TensorMap},
};
use serde_json::{Value, json};

use crate::setup::Case;

/// Saves a launch into the folder that `PTX_CORPUS_SAVE` names; does nothing without it.
pub(crate) fn launch(case: &Case, after: &GlobalMemory) {
    let Some(folder) = std::env::var_os("PTX_CORPUS_SAVE").map(PathBuf::from) else {
        return;
    };
    let before = case.emulator.memory();
    let buffers: Vec<Value> = before
        .allocations()
        .iter()
        .map(|buffer| json!({"name": &*buffer.name, "bytes": buffer.bytes.len()}))
        .collect();
    let parameters: Vec<Value> = case
        .launch
        .parameters
        .iter()
        .map(|value| parameter(before, value))
        .collect();
    let program = case.emulator.program();
    let document = json!({
        "entry": program.name,
        "grid": case.launch.grid,
        "block": case.launch.block,
        "cluster": case.launch.cluster,
        "dynamic_shared_bytes": case.launch.dynamic_shared_bytes,
        // Whether every machine computes the same to the last bit.
        "exact": case.expected.iter().all(|expected| expected.tolerance.is_exact()),
        // What the kernel keeps for itself; nobody compares that.
        "scratch": case.scratch.and_then(|address| before.find(address)),
        "buffers": buffers,
        "parameters": parameters,
    });
    let name = case.name.replace('/', "-");
    let all = |memory: &GlobalMemory| -> Vec<u8> {
        let buffers = memory.allocations().iter();
        buffers
            .flat_map(|buffer| buffer.bytes.iter().copied())
            .collect()
    };
    let file = |extension: &str| folder.join(format!("{name}.{extension}"));
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(file("json"), document.to_string()).expect("can be written");
    fs::write(file("ptx"), &case.text).expect("can be written");
    fs::write(file("before"), all(before)).expect("can be written");
    fs::write(file("after"), all(after)).expect("can be written");
}

fn parameter(memory: &GlobalMemory, value: &[u8]) -> Value {
    let place = |address: u64| {
        let buffer = memory.find(address)?;
        Some((buffer, address - memory.allocations()[buffer].base))
    };
    if let Ok(bytes) = <[u8; MAP_BYTES]>::try_from(value)
        && let Ok(map) = TensorMap::decode(&bytes)
    {
        let (buffer, offset) = place(map.address).expect("maps are of buffers");
        let rank = map.rank;
        // Outermost first, as launchers have it.
        let reversed = |values: &[u64]| -> Vec<u64> { values.iter().rev().copied().collect() };
        let boxes: Vec<u64> = map.box_sizes.iter().map(|&n| u64::from(n)).collect();
        return json!({
            "buffer": buffer,
            "offset": offset,
            "map": {
                "element": map.element.driver_code(),
                "sizes": reversed(&map.sizes[..rank]),
                "outer_strides": reversed(&map.strides[..rank - 1]),
                "box": reversed(&boxes[..rank]),
                "swizzle": map.swizzle.driver_code(),
            },
        });
    }
    if let Ok(bytes) = <[u8; 8]>::try_from(value)
        && let Some((buffer, offset)) = place(u64::from_le_bytes(bytes))
    {
        return json!({"buffer": buffer, "offset": offset});
    }
    json!({"value": value})
}
