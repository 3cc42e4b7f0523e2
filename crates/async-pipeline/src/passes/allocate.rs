//! Gives every buffer and barrier array its place in shared memory.
//!
//! Needs: barrier level. Leaves: `offset` on every `buffer.alloc` and
//! `mbarrier.alloc`, and `async_pipeline.shared_bytes` on the kernel.
//!
//! Buffers come first, each slot at a multiple of 128 bytes as tensor copies need, of
//! 1024 where it is swizzled, so that the pattern begins with it;
//! barriers follow, 8 bytes each.

use super::{Failed, Options, Pass, options::TARGET};
use crate::diagnostics::{self, error, error_with_note};
use async_pipeline_sys::ir::{Op, Type};
use ptx_model::target::Target;

pub(super) const PASS: Pass = Pass {
    argument: "async-pipeline-allocate",
    description: "Give every buffer and barrier its place in shared memory",
    options: &[TARGET],
    run,
};

/// Alignment of a slot, bytes: the shared-memory side of a tensor copy.
pub(crate) const SLOT_ALIGN: i64 = 128;
/// Alignment of a swizzled slot, bytes: where a pattern of 8 rows of 128 bytes begins.
const SWIZZLED_ALIGN: i64 = 1024;
/// Bytes of an mbarrier object (PTX ISA 9.1, 9.7.13.15.1).
pub(crate) const MBARRIER_BYTES: i64 = 8;

fn run(module: Op, options: &Options<'_>) -> Result<(), Failed> {
    let target = diagnostics::option(module, options.target())?;
    diagnostics::all(module.find("gpu.func"), |function| kernel(function, target))
}

/// Bytes from one slot of a buffer to the next.
pub(crate) fn slot_stride(tile_bytes: i64) -> i64 {
    round_up(tile_bytes, SLOT_ALIGN)
}

/// Alignment of a buffer's slots, bytes.
pub(crate) fn slot_align(buffer: Type) -> i64 {
    if buffer.swizzle() == 0 {
        SLOT_ALIGN
    } else {
        SWIZZLED_ALIGN
    }
}

/// Bytes from one slot of a buffer at the barrier level to the next.
pub(crate) fn buffer_stride(buffer: Type) -> i64 {
    round_up(buffer.fields()[0].tile_bytes(), slot_align(buffer))
}

/// The next multiple; neither value is negative.
fn round_up(value: i64, to: i64) -> i64 {
    (value + to - 1) / to * to
}

/// Something that needs room: its bytes and alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    bytes: i64,
    align: i64,
    /// Slots, when it is a ring; its bytes are a multiple of them.
    stages: i64,
}

/// Offsets in order, and the bytes in all.
fn place(requests: &[Request]) -> (Vec<i64>, i64) {
    let mut end = 0_i64;
    let offsets = requests
        .iter()
        .map(|request| {
            let offset = round_up(end, request.align);
            end = offset + request.bytes;
            offset
        })
        .collect();
    (offsets, end)
}

/// Most stages for which the rings fit when all have the same number.
fn largest_fit(requests: &[Request], limit: i64) -> i64 {
    let per_stage: i64 = requests
        .iter()
        .map(|request| request.bytes / request.stages)
        .sum();
    if per_stage == 0 { 0 } else { limit / per_stage }
}

fn kernel(function: Op, target: Target) -> Result<(), Failed> {
    let allocs: Vec<Op> = function
        .find("async_pipeline.buffer.alloc")
        .into_iter()
        .chain(function.find("async_pipeline.mbarrier.alloc"))
        .collect();
    let requests: Vec<Request> = allocs.iter().map(|alloc| request(*alloc)).collect();
    let context = function.context();
    if let Some(fixed) = allocs.iter().find(|alloc| alloc.attr("offset").is_some()) {
        return keep_fixed(function, &allocs, &requests, *fixed, target);
    }
    let (offsets, bytes) = place(&requests);
    fits(function, &allocs, &requests, bytes, target)?;
    for (alloc, offset) in allocs.iter().zip(offsets) {
        alloc.set_attr("offset", context.i64_attr(offset));
    }
    function.set_attr("async_pipeline.shared_bytes", context.i64_attr(bytes));
    Ok(())
}

fn request(alloc: Op) -> Request {
    let ty = alloc.result(0).ty();
    let stages = ty.stages();
    match ty.fields().first() {
        Some(_) => Request {
            bytes: stages * buffer_stride(ty),
            align: slot_align(ty),
            stages,
        },
        None => Request {
            bytes: stages * MBARRIER_BYTES,
            align: MBARRIER_BYTES,
            stages,
        },
    }
}

fn fits(
    function: Op,
    allocs: &[Op],
    requests: &[Request],
    bytes: i64,
    target: Target,
) -> Result<(), Failed> {
    let limit = i64::from(target.limits().max_dynamic_shared_bytes);
    if bytes <= limit {
        return Ok(());
    }
    let (tiles, barriers): (Vec<Request>, Vec<Request>) = requests
        .iter()
        .partition(|request| request.align != MBARRIER_BYTES);
    let sum = |requests: &[Request]| requests.iter().map(|request| request.bytes).sum::<i64>();
    let fit = largest_fit(requests, limit);
    let advice = match fit {
        0 => "not even 1 stage fits; use smaller tiles".to_owned(),
        fit => format!("the largest number of stages that fits is {fit}"),
    };
    let message = format!(
        "shared memory: {} bytes of tiles and {} bytes of barriers exceed the {limit} bytes that a CTA has on {target}; {advice}",
        sum(&tiles),
        sum(&barriers)
    );
    let largest = allocs
        .iter()
        .zip(requests)
        .max_by_key(|(_, request)| request.bytes);
    Err(match largest {
        Some((alloc, request)) => error_with_note(
            function,
            message,
            *alloc,
            format!(
                "the largest ring is this one: {} stages, {} bytes",
                request.stages, request.bytes
            ),
        ),
        None => error(function, message),
    })
}

/// A layout given by hand is checked, not changed.
fn keep_fixed(
    function: Op,
    allocs: &[Op],
    requests: &[Request],
    fixed: Op,
    target: Target,
) -> Result<(), Failed> {
    let mut spans = Vec::new();
    for (alloc, request) in allocs.iter().zip(requests) {
        let Some(offset) = alloc.attr("offset").and_then(|offset| offset.int()) else {
            return Err(error_with_note(
                *alloc,
                "expected an offset here too, since another allocation has one",
                fixed,
                "this one",
            ));
        };
        // Far beyond any shared memory: also keeps the sums below in range.
        if offset > i64::from(u32::MAX) {
            return Err(error(
                *alloc,
                format!("expected an offset within shared memory, got {offset}"),
            ));
        }
        spans.push((offset, offset + request.bytes, *alloc));
    }
    spans.sort_by_key(|(start, ..)| *start);
    for pair in spans.windows(2) {
        if pair[0].1 > pair[1].0 {
            return Err(error_with_note(
                pair[1].2,
                format!(
                    "starts at byte {}, within an allocation that ends at byte {}",
                    pair[1].0, pair[0].1
                ),
                pair[0].2,
                "that allocation is here",
            ));
        }
    }
    let limit = i64::from(target.limits().max_dynamic_shared_bytes);
    let bytes = match spans.last() {
        Some((_, end, alloc)) if *end > limit => {
            return Err(error(
                *alloc,
                format!(
                    "ends at byte {end}, beyond the {limit} bytes of shared memory that a CTA has on {target}"
                ),
            ));
        }
        last => last.map_or(0, |(_, end, _)| *end),
    };
    function.set_attr(
        "async_pipeline.shared_bytes",
        function.context().i64_attr(bytes),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(bytes: i64, stages: i64) -> Request {
        Request {
            bytes: stages * slot_stride(bytes),
            align: SLOT_ALIGN,
            stages,
        }
    }

    fn barriers(stages: i64) -> Request {
        Request {
            bytes: stages * MBARRIER_BYTES,
            align: MBARRIER_BYTES,
            stages,
        }
    }

    #[test]
    fn slots_start_at_multiples_of_128_bytes() {
        // 32 halves are 64 bytes; the second slot must not start at 64.
        assert_eq!(slot_stride(64), 128);
        let (offsets, bytes) = place(&[tiles(64, 2), barriers(2), barriers(2)]);
        assert_eq!(offsets, [0, 256, 272]);
        assert_eq!(bytes, 288);
    }

    #[test]
    fn the_largest_fit_counts_barriers() {
        let rings = |stages| {
            [
                tiles(64 * 576 * 2, stages),
                tiles(64 * 512 * 2, stages),
                barriers(stages),
                barriers(stages),
            ]
        };
        assert_eq!(largest_fit(&rings(2), 232_448), 1);
        // A tile that fills shared memory leaves no room for its barriers.
        assert_eq!(
            largest_fit(&[tiles(232_448, 1), barriers(1), barriers(1)], 232_448),
            0
        );
    }
}
