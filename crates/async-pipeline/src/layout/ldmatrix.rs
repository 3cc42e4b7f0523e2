//! Loading a distribution with `ldmatrix` (or storing it with `stmatrix`).
//!
//! An instruction moves 1, 2 or 4 matrices of 8 rows of 16 bytes. Lanes `8j … 8j+7` supply the
//! addresses of the rows of matrix `j`. Register `j`, half `h` of lane `t` then has element
//! `2·(t%4) + h` of row `t/4`, or, with `.trans`, of row `2·(t%4) + h` element `t/4`. 8-bit and
//! 32-bit elements move as parts or pairs of 16-bit ones, without `.trans`. Source: PTX ISA 9.1,
//! "ldmatrix"; measured on an H200.

use super::{
    BYTE, LANE, Layout, LayoutError, REGISTER, WARP,
    banks::{Wavefronts, wavefronts},
    space::bits_of,
};

/// How `ldmatrix` fills the registers of a warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ldmatrix {
    /// Matrices per instruction: 1, 2 or 4.
    pub matrices: u32,
    /// Whether the instruction has `.trans`.
    pub transposed: bool,
    /// The row address that each lane supplies: (register, lane, warp) → byte, where the register
    /// axis numbers the instructions of a thread. Instruction `i` fills the 32-bit registers from
    /// `i·matrices` on. Lanes from `8·matrices` on supply copies that the instruction ignores.
    pub addresses: Layout,
}

impl Ldmatrix {
    /// Instructions per thread.
    #[must_use]
    pub fn instructions(&self) -> u32 {
        self.addresses.input_size(REGISTER)
    }

    /// The wavefronts of one instruction: one request per matrix.
    ///
    /// # Errors
    /// None for addresses made by [`ldmatrix`].
    pub fn wavefronts(&self) -> Result<Wavefronts, LayoutError> {
        let used = self.addresses.images_of(LANE);
        let count = (3 + self.matrices.ilog2()) as usize;
        let lanes = used[..count.min(used.len())]
            .iter()
            .map(|&image| [image as u32]);
        let bytes = self.addresses.output_size(BYTE);
        let supplied = Layout::from_bases(&[(LANE, lanes.collect())], [(BYTE, bytes)])?;
        wavefronts(&supplied, 16)
    }
}

/// How to load registers from shared memory with `ldmatrix`, given where the elements of each
/// thread are: (register, lane, warp) → byte, usually a fragment followed by a layout of
/// [`shared`](super::shared). `None` if the fragment is not made of 8×8 matrices whose rows are 16
/// consecutive bytes. The same answer holds for `stmatrix`.
///
/// # Errors
/// `element_bytes` is not 1, 2 or 4, or `byte` is not the only output.
pub fn ldmatrix(access: &Layout, element_bytes: u32) -> Result<Option<Ldmatrix>, LayoutError> {
    if !matches!(element_bytes, 1 | 2 | 4) {
        return Err(LayoutError::Unsupported {
            what: "the bytes of an element of ldmatrix",
            expected: "1, 2 or 4",
            got: element_bytes,
        });
    }
    if access.outputs().len() != 1 || access.outputs()[0].name != BYTE {
        return Err(LayoutError::AxesDiffer {
            expected: BYTE.to_owned(),
            got: access.outputs.names(),
        });
    }
    let (registers, lanes) = (access.offsets_of(REGISTER), access.offsets_of(LANE));
    if lanes.len() != 5 {
        return Ok(None);
    }
    let in_register = bits_of(REGISTER, 4 / element_bytes)? as usize;
    if registers.len() < in_register {
        return Ok(None);
    }
    let (inside, outside) = registers.split_at(in_register);
    let own_columns: Vec<u32> = (0..in_register).map(|bit| element_bytes << bit).collect();
    let warps = access.offsets_of(WARP);

    let plain = inside == own_columns.as_slice() && lanes[..2] == [4, 8];
    let transposed = element_bytes == 2 && lanes[2..] == [2, 4, 8];
    let rows: Vec<u32> = match (plain, transposed) {
        (true, _) => lanes[2..].to_vec(),
        (_, true) => inside.iter().chain(&lanes[..2]).copied().collect(),
        _ => return Ok(None),
    };
    let aligned = |offset: &u32| offset.is_multiple_of(16);
    if !rows.iter().chain(outside).chain(&warps).all(aligned) {
        return Ok(None);
    }
    let selecting = outside.len().min(2);
    let (select, repeat) = outside.split_at(selecting);
    let mut supplying = [rows.as_slice(), select].concat();
    supplying.resize(5, 0);
    let images = |offsets: &[u32]| offsets.iter().map(|&offset| [offset]).collect();
    Ok(Some(Ldmatrix {
        matrices: 1 << selecting,
        transposed: !plain,
        addresses: Layout::from_bases(
            &[
                (REGISTER, images(repeat)),
                (LANE, images(&supplying)),
                (WARP, images(&warps)),
            ],
            [(BYTE, access.output_size(BYTE))],
        )?,
    }))
}
