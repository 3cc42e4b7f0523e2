//! Kernels on arrays: their text, their PTX, and what the emulator makes of them.

use async_pipeline::{CompileOptions, Compiler, Target};
use ptx_emulator::{Emulator, Launch, Options, Program, syntax::parse};
use std::sync::Arc;

pub(crate) const BLOCK: usize = 128;

/// A kernel that computes `C[i] = op A[i], B[i]` for vectors of `lanes` elements; `body`
/// makes `%y` of `%a` and `%b`.
pub(crate) fn kernel(from: &str, to: &str, lanes: usize, body: &str) -> String {
    let (load, store, in_type, out_type) = if lanes == 1 {
        ("memref.load", "memref.store", String::new(), String::new())
    } else {
        (
            "vector.load",
            "vector.store",
            format!(", vector<{lanes}x{from}>"),
            format!(", vector<{lanes}x{to}>"),
        )
    };
    format!(
        "gpu.module @kernels {{
  gpu.func @k(%A: memref<?x{from}>, %B: memref<?x{from}>, %C: memref<?x{to}>)
      kernel attributes {{known_block_size = array<i32: {BLOCK}, 1, 1>}} {{
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %size = arith.constant {BLOCK} : index
    %lanes = arith.constant {lanes} : index
    %first = arith.muli %block, %size : index
    %number = arith.addi %first, %thread : index
    %i = arith.muli %number, %lanes : index
    %a = {load} %A[%i] : memref<?x{from}>{in_type}
    %b = {load} %B[%i] : memref<?x{from}>{in_type}
    {body}
    {store} %y, %C[%i] : memref<?x{to}>{out_type}
    gpu.return
  }}
}}"
    )
}

pub(crate) fn compile(text: &str, target: Target) -> String {
    let options = CompileOptions::builder(target)
        .build()
        .expect("legal options");
    match Compiler::new(options).compile(text) {
        Ok(artifact) => artifact.ptx,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// Runs a kernel on bytes of `width` per element; returns `out` bytes per element.
pub(crate) fn run(
    ptx: &str,
    a: &[u8],
    b: &[u8],
    width: usize,
    out: usize,
    lanes: usize,
) -> Vec<u8> {
    let count = a.len() / width;
    let threads = BLOCK * lanes;
    assert_eq!(count % threads, 0, "whole blocks");
    let module = parse(ptx).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let program =
        Program::new(&module, &module.entries[0]).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let mut emulator = Emulator::new(Arc::new(program)).expect("fits");
    let mut place = |bytes: &[u8]| {
        let memory = emulator.memory_mut();
        let address = memory.allocate(bytes.len() as u64, "array").expect("fits");
        memory.write(address, bytes).expect("is there");
        address
    };
    let pointers = [place(a), place(b), place(&vec![0; count * out])];
    let extent = (count as u64).to_le_bytes().to_vec();
    let parameters = pointers
        .iter()
        .map(|pointer| pointer.to_le_bytes().to_vec())
        .chain([extent.clone(), extent.clone(), extent])
        .collect();
    let launch = Launch {
        grid: [(count / threads) as u32, 1, 1],
        block: [BLOCK as u32, 1, 1],
        cluster: [1, 1, 1],
        dynamic_shared_bytes: 0,
        parameters,
    };
    let options = Options {
        detect: false,
        ..Options::default()
    };
    let outcome = emulator.run(&launch, &options).expect("launches");
    assert!(outcome.is_clean(), "{:?}\n{ptx}", outcome.reports);
    let mut result = vec![0; count * out];
    emulator
        .memory()
        .read(pointers[2], &mut result)
        .expect("is there");
    result
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect()
}

pub(crate) fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}
