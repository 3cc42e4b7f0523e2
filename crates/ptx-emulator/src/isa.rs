//! What instructions do: one file per family.
//!
//! A family turns the instructions of its opcodes into objects that carry themselves out
//! ([`Execute`]). Decoding happens once per kernel and is strict: a modifier or operand that the
//! family does not know is an error with the instruction's name and place, never skipped.

pub mod decode;
mod half;
mod lanes;

// Families whose opcodes belong to others, or that are not in the table yet.
pub mod bulk;
pub mod bulk_tensor;
pub mod st_async;

use crate::{
    machine::step::{Flow, Step},
    report::Fault,
};
use decode::{DecodeError, Decoder};

/// A decoded instruction.
pub trait Execute: Send + Sync + std::fmt::Debug {
    /// Carries the instruction out for the lanes of `step.mask`, which is never empty.
    ///
    /// An instruction that has to wait returns [`Flow::Wait`] and is executed again later; what
    /// it must remember until then goes into `step.ticket`.
    fn execute(&self, step: &mut Step<'_>) -> Result<Flow, Fault>;

    /// Which lanes have to arrive before it can be executed.
    fn convergence(&self) -> Convergence {
        Convergence::None
    }
}

/// Which lanes of a warp an instruction needs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convergence {
    /// None: each lane by itself.
    None,
    /// `.aligned`: all lanes of the warp that have not ended.
    Warp,
    /// The lanes of a member mask, at this very instruction.
    Members(decode::Src),
}

/// A family's decoder.
pub type Decode = fn(&mut Decoder<'_>) -> Result<Box<dyn Execute>, DecodeError>;

macro_rules! families {
    ($($module:ident: $($opcode:literal $decode:ident),+;)+) => {
        $(pub mod $module;)+

        /// The decoder of an opcode (the part of the name before the first dot).
        pub(crate) fn decoder(opcode: &str) -> Option<Decode> {
            Some(match opcode {
                $($($opcode => $module::$decode,)+)+
                _ => return None,
            })
        }
    };
}

families! {
    mov: "mov" decode_mov, "activemask" decode_activemask;
    arithmetic: "add" decode_add, "sub" decode_sub, "mul" decode_mul, "mad" decode_mad,
        "fma" decode_fma, "div" decode_div, "neg" decode_neg, "abs" decode_abs,
        "min" decode_min, "max" decode_max;
    integer: "rem" decode_rem, "mul24" decode_mul24, "mad24" decode_mad24, "sad" decode_sad,
        "addc" decode_addc, "subc" decode_subc, "madc" decode_madc;
    bits: "popc" decode_popc, "clz" decode_clz, "brev" decode_brev, "bfind" decode_bfind,
        "bfe" decode_bfe, "bfi" decode_bfi, "bmsk" decode_bmsk, "szext" decode_szext,
        "dp4a" decode_dp4a, "dp2a" decode_dp2a, "shl" decode_shl, "shr" decode_shr,
        "shf" decode_shf;
    logic: "and" decode_and, "or" decode_or, "xor" decode_xor, "not" decode_not,
        "cnot" decode_cnot, "lop3" decode_lop3, "prmt" decode_prmt;
    float: "copysign" decode_copysign, "testp" decode_testp;
    approximate: "rcp" decode_rcp, "sqrt" decode_sqrt, "rsqrt" decode_rsqrt, "lg2" decode_lg2,
        "sin" decode_sin, "cos" decode_cos, "ex2" decode_ex2, "tanh" decode_tanh;
    compare: "setp" decode_setp, "set" decode_set;
    select: "selp" decode_selp, "slct" decode_slct;
    convert: "cvt" decode_cvt;
    warp: "shfl" decode_shfl, "vote" decode_vote, "match" decode_match, "redux" decode_redux,
        "elect" decode_elect;
    control: "bra" decode_bra, "brx" decode_brx, "ret" decode_exit, "exit" decode_exit,
        "trap" decode_trap;
    memory: "ld" decode_ld, "ldu" decode_ld, "st" decode_st, "cvta" decode_cvta,
        "isspacep" decode_isspacep, "mapa" decode_mapa, "getctarank" decode_getctarank,
        "prefetch" decode_prefetch, "prefetchu" decode_prefetch;
    atomic: "atom" decode_atom, "red" decode_red;
    barrier: "bar" decode_bar, "barrier" decode_barrier;
    mbarrier: "mbarrier" decode_mbarrier;
    cp_async: "cp" decode_cp;
    fence: "fence" decode_fence, "membar" decode_fence;
    timing: "nanosleep" decode_nanosleep, "setmaxnreg" decode_setmaxnreg;
    matrix: "ldmatrix" decode_ldmatrix, "stmatrix" decode_stmatrix, "movmatrix" decode_movmatrix;
    mma: "mma" decode_mma;
    wmma: "wmma" decode_wmma;
    wgmma: "wgmma" decode_wgmma;
    tcgen05: "tcgen05" decode_tcgen05;
    tensormap: "tensormap" decode_tensormap;
    launch_control: "clusterlaunchcontrol" decode_launch_control,
        "griddepcontrol" decode_grid_dependency;
}
