//! Which part of a tile a thread holds.

use super::{Threads, addresses};
use crate::{
    diagnostics::error,
    layout::{
        COLUMN, LANE, Layout, LayoutError, REGISTER, ROW, WARP, fragments::MmaTiling, global,
    },
    passes::Failed,
};
use async_pipeline_sys::ir::{Op, Value};

/// Columns of tensor memory that one `tcgen05.ld` reads.
const LOAD_COLUMNS: i64 = 32;
/// Bytes of a piece of a tile that is not bound to any layout.
const PIECE_BYTES: u32 = 16;

/// The pieces of a tile that one thread holds, as (row, column) relative to the thread's own
/// first row and column.
pub(super) enum Pieces {
    /// All known while compiling; piece `i` has the values from `i * width` on.
    Known(Vec<[i64; 2]>),
    /// One row, `count` pieces along it, taken by a loop.
    Loop { count: i64 },
}

/// What a thread holds.
pub(super) struct Held {
    pub(super) pieces: Pieces,
    /// Elements of a piece: a run of columns.
    pub(super) width: i64,
    /// The thread's first row and column in the tile, index.
    pub(super) first: [Value; 2],
    /// Whether this thread holds anything of its own; `None`: all do.
    pub(super) holds: Option<Value>,
}

/// How warps share the product of an accumulator.
pub(super) fn tiling(op: Op, tile: [i64; 2], k: i64, warps: i64) -> Result<MmaTiling, Failed> {
    let [m, n] = tile;
    // As square as it goes, which loads the fewest operands; a warp has at least 16 rows and
    // 16 columns.
    let mut best: Option<[i64; 2]> = None;
    for down in [1, 2, 4, 8, 16, 32] {
        let across = warps / down;
        if across == 0 || down * across != warps || m % (16 * down) != 0 || n % (16 * across) != 0 {
            continue;
        }
        let edge = |[down, across]: [i64; 2]| m / down + n / across;
        if best.is_none_or(|best| edge([down, across]) < edge(best)) {
            best = Some([down, across]);
        }
    }
    let Some([down, across]) = best else {
        return Err(error(
            op,
            format!(
                "a product of {m}x{n} cannot be shared by {warps} warps, each of which takes at least 16 rows and 16 columns"
            ),
        ));
    };
    let small = |value: i64| value as u32;
    Ok(MmaTiling {
        tile: [small(m), small(n), small(k)],
        warps: [small(down), small(across)],
    })
}

impl Held {
    /// As `mma.sync` leaves a sum.
    pub(super) fn sums(op: Op, tile: [i64; 2], threads: &Threads) -> Result<Self, Failed> {
        let tiling = tiling(op, tile, 16, threads.warps)?;
        let layout = tiling.accumulator();
        layout
            .and_then(|layout| Self::of(&layout, 2, threads))
            .map_err(|why| error(op, why.to_string()))
    }

    /// As `tcgen05.ld` reads a sum: one row.
    pub(super) fn lanes(op: Op, columns: i64, threads: &Threads) -> Result<Self, Failed> {
        if threads.warps != 4 {
            return Err(error(
                op,
                format!(
                    "expected a role of 4 warps to load from tensor memory, got one of {}",
                    threads.warps
                ),
            ));
        }
        let build = threads.start;
        // A warp reaches the lanes that its number in the CTA modulo 4 says.
        let thread = crate::passes::thread_id(build);
        let width = columns.min(LOAD_COLUMNS);
        Ok(Self {
            pieces: Pieces::Loop {
                count: columns / width,
            },
            width,
            first: [build.rem(thread, build.index(128)), build.index(0)],
            holds: None,
        })
    }

    /// In rows of 16 bytes.
    pub(super) fn blocked(
        op: Op,
        tile: [i64; 2],
        element_bytes: i64,
        threads: &Threads,
    ) -> Result<Self, Failed> {
        let bytes = element_bytes as u32;
        let shape = tile.map(|extent| extent as u32);
        let width = (PIECE_BYTES / bytes.clamp(1, PIECE_BYTES)).min(shape[1]);
        let layout = global::blocked(shape, bytes, threads.warps as u32, PIECE_BYTES);
        layout
            .and_then(|layout| Self::of(&layout, width, threads))
            .map_err(|why| error(op, why.to_string()))
    }

    fn of(layout: &Layout, width: u32, threads: &Threads) -> Result<Self, LayoutError> {
        let at = |register: u32| -> Result<[i64; 2], LayoutError> {
            let point = [(REGISTER, register)];
            Ok([
                i64::from(layout.coordinate(ROW, &point)?),
                i64::from(layout.coordinate(COLUMN, &point)?),
            ])
        };
        let pieces = (0..layout.input_size(REGISTER) / width)
            .map(|piece| at(piece * width))
            .collect::<Result<_, _>>()?;
        let images = |axis, output| -> Result<Vec<u32>, LayoutError> {
            (0..layout.input_size(axis).ilog2())
                .map(|bit| layout.coordinate(output, &[(axis, 1 << bit)]))
                .collect()
        };
        let first = |output| -> Result<Value, LayoutError> {
            let (lanes, warps) = (images(LANE, output)?, images(WARP, output)?);
            Ok(addresses::combined(threads, &lanes, &warps))
        };
        // Threads whose number has a free bit set hold copies of what others hold.
        let (lanes, warps) = (layout.free_bits(LANE), layout.free_bits(WARP));
        let holds = (lanes | warps != 0).then(|| {
            let build = threads.start;
            let copies = build.or(
                build.and(threads.lane, build.index(i64::from(lanes))),
                build.and(threads.warp, build.index(i64::from(warps))),
            );
            build.compare(crate::build::Compare::Eq, copies, build.index(0))
        });
        Ok(Self {
            pieces: Pieces::Known(pieces),
            width: i64::from(width),
            first: [first(ROW)?, first(COLUMN)?],
            holds,
        })
    }
}
