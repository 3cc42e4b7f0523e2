//! The names of the special registers (PTX ISA, chapter 10).

/// With components `.x` `.y` `.z` `.w`.
const VECTORS: &[&str] = &[
    "tid",
    "ntid",
    "ctaid",
    "nctaid",
    "clusterid",
    "nclusterid",
    "cluster_ctaid",
    "cluster_nctaid",
];

const SCALARS: &[&str] = &[
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "reserved_smem_offset_0",
    "reserved_smem_offset_1",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "current_graph_exec",
];

/// What a `%name` is among the special registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// One number.
    Scalar,
    /// Needs a component.
    Vector,
}

/// Looks a name up, with its `%`.
pub(super) fn special(name: &str) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    if VECTORS.contains(&name) {
        return Some(Special::Vector);
    }
    let numbered = |prefix: &str, suffix: &str, count: u32| {
        let number = name
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(suffix));
        number.is_some_and(|text| {
            (text == "0" || !text.starts_with('0'))
                && text.bytes().all(|b| b.is_ascii_digit())
                && text.parse().is_ok_and(|n: u32| n < count)
        })
    };
    let known = SCALARS.contains(&name)
        || numbered("envreg", "", 32)
        || numbered("pm", "", 8)
        || numbered("pm", "_64", 8);
    known.then_some(Special::Scalar)
}
