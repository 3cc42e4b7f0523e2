//! PTX modules around the table's snippets, for asking a real assembler.

use std::fmt::Write as _;

use super::Row;
use crate::target::PtxVersion;

/// What a snippet may name: `mbar`, `smem` (shared memory of this CTA), `rmbar`, `rsmem` (registers
/// with addresses in another CTA), `gptr` (global), `tmap` (tensor map), and registers for the rest.
const DECLARATIONS: &str = "\
\t.reg .pred p;
\t.reg .b16 mask;
\t.reg .b32 n, c<3>, v<6>, rmbar, rsmem, taddr, idesc;
\t.reg .b64 state, gptr, tmap, adesc, bdesc;
\t.reg .f32 f<4>;
\tld.param.u64 gptr, [buffer];
\tmov.b64 tmap, map;
";

/// A module of `version` for the architecture `arch` with one kernel per row. The kernels are
/// separate because `tcgen05` allows one `.cta_group` value per kernel.
pub fn module<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
    arch: &str,
    version: PtxVersion,
) -> String {
    let mut text = format!(".version {version}\n.target {arch}\n.address_size 64\n");
    text.push_str(".shared .align 8 .b64 mbar;\n.shared .align 1024 .b8 smem[8192];\n");
    for (index, row) in rows.into_iter().enumerate() {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            ".visible .entry probe{index}(.param .u64 buffer, .param .align 64 .b8 map[128])\n\
             {{\n{DECLARATIONS}\t{}\n\tret;\n}}\n",
            row.snippet
        );
    }
    text
}
