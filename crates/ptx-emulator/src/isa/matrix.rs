//! `ldmatrix`, `stmatrix` and `movmatrix`: 8×8 matrices of 16-bit elements between shared memory
//! and the registers of a warp (PTX ISA 9.1; element places measured on an H200).

use super::{
    Convergence, Execute,
    decode::{Address, DecodeError, Decoder, Dst, Src},
};
use crate::{
    formats::fragment,
    machine::{
        step::{Flow, Location, Step, Window},
        warp::Row,
    },
    report::{Fault, Kind},
    syntax::ast::ScalarType,
};

type Result<T> = std::result::Result<T, DecodeError>;

/// The rows of up to four matrices, 16 bytes each, in the order of the lanes that give their
/// addresses.
type Rows = [[u8; 16]; 32];

/// Matrix instructions exchange registers between all 32 lanes.
///
/// # Errors
/// Lanes are missing.
pub(super) fn need_whole_warp(step: &Step<'_>) -> std::result::Result<(), Fault> {
    if step.mask == u32::MAX {
        return Ok(());
    }
    Err(Fault::new(
        Kind::Divergence,
        format!(
            "all 32 lanes of the warp are needed, and only {:#010x} execute",
            step.mask
        ),
    ))
}

/// Takes `.sync.aligned`.
pub(super) fn sync_aligned(d: &mut Decoder<'_>) -> Result<()> {
    d.need("sync")?;
    d.need("aligned")
}

fn element(rows: &Rows, matrix: usize, at: fragment::Place) -> u64 {
    let row = &rows[matrix * 8 + at.row];
    u64::from(u16::from_le_bytes([
        row[2 * at.column],
        row[2 * at.column + 1],
    ]))
}

/// The location of each row's 16 bytes.
fn locate_rows(
    step: &Step<'_>,
    window: Window,
    address: Address,
    matrices: usize,
) -> std::result::Result<Vec<Location>, Fault> {
    let locate = |lane| {
        let at = step.address(address, lane);
        match step.locate(window, lane, at, 16, 16)? {
            location @ Location::Shared(..) => Ok(location),
            _ => Err(Fault::new(
                Kind::InvalidOperand,
                format!("the address {at:#x} of lane {lane} is not in shared memory"),
            )),
        }
    };
    (0..matrices * 8).map(locate).collect()
}

#[derive(Debug)]
struct LoadMatrix {
    window: Window,
    address: Address,
    dsts: Vec<Dst>,
    transposed: bool,
}

impl Execute for LoadMatrix {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        let locations = locate_rows(step, self.window, self.address, self.dsts.len())?;
        let mut rows: Rows = [[0; 16]; 32];
        for (lane, location) in locations.into_iter().enumerate() {
            step.read(location, lane, &mut rows[lane])?;
        }
        for (matrix, dst) in self.dsts.iter().enumerate() {
            step.write_with(*dst, |lane| {
                let half = |half| {
                    element(
                        &rows,
                        matrix,
                        fragment::eight_by_eight(lane, half, self.transposed),
                    )
                };
                half(0) | half(1) << 16
            });
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

#[derive(Debug)]
struct StoreMatrix {
    window: Window,
    address: Address,
    srcs: Vec<Src>,
    transposed: bool,
}

impl Execute for StoreMatrix {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        let locations = locate_rows(step, self.window, self.address, self.srcs.len())?;
        let mut rows: Rows = [[0; 16]; 32];
        for (matrix, src) in self.srcs.iter().enumerate() {
            for (lane, &value) in step.row(*src).iter().enumerate() {
                for half in 0..2 {
                    let at = fragment::eight_by_eight(lane, half, self.transposed);
                    let bytes = ((value >> (16 * half)) as u16).to_le_bytes();
                    rows[matrix * 8 + at.row][2 * at.column..][..2].copy_from_slice(&bytes);
                }
            }
        }
        for (lane, location) in locations.into_iter().enumerate() {
            step.store(location, lane, &rows[lane])?;
        }
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

#[derive(Debug)]
struct MoveMatrix {
    dst: Dst,
    src: Src,
}

impl Execute for MoveMatrix {
    fn execute(&self, step: &mut Step<'_>) -> std::result::Result<Flow, Fault> {
        need_whole_warp(step)?;
        step.write(self.dst, &transpose(step.row(self.src)));
        Ok(Flow::Next)
    }

    fn convergence(&self) -> Convergence {
        Convergence::Warp
    }
}

/// Half h of a lane becomes what lane and half of the exchanged row and column hold.
fn transpose(input: &Row) -> Row {
    std::array::from_fn(|lane| {
        let half = |half| {
            let at = fragment::eight_by_eight(lane, half, true);
            let holder = input[4 * at.row + at.column / 2];
            holder >> (16 * (at.column % 2)) & 0xffff
        };
        half(0) | half(1) << 16
    })
}

/// `.m8n8`, the number of matrices, `.trans`, `.b16` and the space.
fn matrices(d: &mut Decoder<'_>) -> Result<(usize, bool, Window)> {
    sync_aligned(d)?;
    if let Some(shape) = d.one_of(&["m16n16", "m8n16", "m16n8"]) {
        return Err(d.error(format!("the shape .{shape} is not supported")));
    }
    d.need("m8n8")?;
    let count = match d.need_one_of(&["x1", "x2", "x4"])? {
        "x1" => 1,
        "x2" => 2,
        _ => 4,
    };
    let transposed = d.flag("trans");
    d.need("b16")?;
    let window = match d.one_of(&["shared", "shared::cta"]) {
        Some(_) => Window::SharedCta,
        None => Window::Generic,
    };
    d.expect_operands(2..=2)?;
    Ok((count, transposed, window))
}

pub(super) fn decode_ldmatrix(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let (count, transposed, window) = matrices(d)?;
    Ok(Box::new(LoadMatrix {
        window,
        address: d.address(1)?,
        dsts: d.dsts(0, ScalarType::B32, Some(count))?,
        transposed,
    }))
}

pub(super) fn decode_stmatrix(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    let (count, transposed, window) = matrices(d)?;
    Ok(Box::new(StoreMatrix {
        window,
        address: d.address(0)?,
        srcs: d.srcs(1, ScalarType::B32, Some(count))?,
        transposed,
    }))
}

pub(super) fn decode_movmatrix(d: &mut Decoder<'_>) -> Result<Box<dyn Execute>> {
    sync_aligned(d)?;
    d.need("m8n8")?;
    d.need("trans")?;
    d.need("b16")?;
    d.expect_operands(2..=2)?;
    Ok(Box::new(MoveMatrix {
        dst: d.dst(0, ScalarType::B32)?,
        src: d.src(1, ScalarType::B32)?,
    }))
}

#[cfg(test)]
pub(in crate::isa) mod tests;
