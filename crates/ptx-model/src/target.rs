//! Targets, PTX versions and the limits that belong to them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A GPU architecture that PTX is emitted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Ampere: `cp.async`, mbarriers without byte counts, `mma.sync`.
    Sm80,
    /// Hopper with its architecture-specific instructions: TMA, clusters, `wgmma`.
    Sm90a,
    /// Blackwell with its architecture-specific instructions: `tcgen05`, tensor memory.
    Sm100a,
}

/// The name is no known target.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown target `{name}`; known targets are sm_80, sm_90a, sm_100a")]
pub struct UnknownTarget {
    /// The name as it was given.
    pub name: String,
}

/// The text is no PTX version.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a PTX version; write it as major.minor, for example 8.6")]
pub struct BadPtxVersion {
    /// The text as it was given.
    pub text: String,
}

/// A PTX ISA version, as written after `.version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// The number before the dot.
    pub major: u8,
    /// The number after the dot.
    pub minor: u8,
}

impl PtxVersion {
    /// Every version from the first that knows `sm_80` to the newest that the tests' ptxas (13.5)
    /// takes, in rising order. The gaps are real: there is no 7.9 and no 8.9.
    #[rustfmt::skip]
    pub const KNOWN: &'static [PtxVersion] = &{
        let v = PtxVersion::new;
        [
            v(7, 0), v(7, 1), v(7, 2), v(7, 3), v(7, 4), v(7, 5), v(7, 6), v(7, 7), v(7, 8),
            v(8, 0), v(8, 1), v(8, 2), v(8, 3), v(8, 4), v(8, 5), v(8, 6), v(8, 7), v(8, 8),
            v(9, 0), v(9, 1), v(9, 2), v(9, 3), v(9, 4), v(9, 5),
        ]
    };

    /// The version `major.minor`.
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for PtxVersion {
    type Err = BadPtxVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // `u8::from_str` would also take a sign.
        let number = |s: &str| {
            s.bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| s.parse().ok())
                .flatten()
        };
        text.split_once('.')
            .and_then(|(major, minor)| Some(Self::new(number(major)?, number(minor)?)))
            .ok_or_else(|| BadPtxVersion {
                text: text.to_owned(),
            })
    }
}

/// Resources of one target. Sizes are in bytes.
///
/// Source unless a field says otherwise: CUDA C++ Programming Guide 13, "Compute Capabilities",
/// table of technical specifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Shared memory a CTA can have when it is dynamic (163 KiB or 227 KiB); static counts too.
    pub max_dynamic_shared_bytes: u32,
    /// Shared memory that may be declared statically; ptxas refuses more.
    pub max_static_shared_bytes: u32,
    /// Shared memory of an SM; each resident CTA also costs `reserved_shared_bytes`.
    pub shared_bytes_per_sm: u32,
    /// Shared memory that the system keeps per resident CTA.
    pub reserved_shared_bytes: u32,
    /// Named barriers of a CTA, ids 0 to 15 (PTX ISA 9.1, 9.7.13.1).
    pub named_barriers: u32,
    /// Threads of a CTA.
    pub max_threads_per_cta: u32,
    /// Warps resident on an SM.
    pub max_warps_per_sm: u32,
    /// 32-bit registers of an SM, and the most that one CTA can own.
    pub registers_per_sm: u32,
    /// 32-bit registers one thread can address.
    pub max_registers_per_thread: u32,
    /// CTAs of a cluster that every device of the target can launch; 1 where there are no clusters.
    pub max_portable_cluster: u32,
    /// CTAs of a cluster that a kernel may ask for when it gives up portability.
    pub max_cluster: u32,
    /// Columns of tensor memory of a CTA, each 128 lanes of 32 bits (PTX ISA 9.1, 9.7.16.1).
    pub tmem_columns: u32,
    /// Largest arrival count of an mbarrier; 0 is not a count (PTX ISA 9.1, 9.7.13.15.2).
    pub max_mbarrier_count: u32,
    /// Largest magnitude of an mbarrier's tx-count; 0 where it has none (same section).
    pub max_mbarrier_tx: u32,
}

impl Target {
    /// Every target, oldest first. The order is that of [`crate::legality::Row::lowest`].
    pub const ALL: [Target; 3] = [Target::Sm80, Target::Sm90a, Target::Sm100a];

    /// The name as in `.target` and `-mcpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Target::Sm80 => "sm_80",
            Target::Sm90a => "sm_90a",
            Target::Sm100a => "sm_100a",
        }
    }

    /// The position in [`Target::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The PTX version that is emitted unless another is asked for. It is not the oldest: LLVM's
    /// own default for `sm_80`, 7.0, lacks `mbarrier.test_wait.parity`.
    pub const fn default_ptx_version(self) -> PtxVersion {
        match self {
            Target::Sm80 => PtxVersion::new(8, 0),
            Target::Sm90a => PtxVersion::new(8, 6),
            Target::Sm100a => PtxVersion::new(8, 7),
        }
    }

    /// The oldest PTX version that knows the target (PTX ISA 9.1, 11.1.2).
    pub const fn first_ptx_version(self) -> PtxVersion {
        match self {
            Target::Sm80 => PtxVersion::new(7, 0),
            Target::Sm90a => PtxVersion::new(8, 0),
            Target::Sm100a => PtxVersion::new(8, 6),
        }
    }

    /// What a CTA and an SM of this target have.
    pub const fn limits(self) -> Limits {
        let sm80 = Limits {
            max_dynamic_shared_bytes: 163 * 1024,
            max_static_shared_bytes: 48 * 1024,
            shared_bytes_per_sm: 164 * 1024,
            reserved_shared_bytes: 1024,
            named_barriers: 16,
            max_threads_per_cta: 1024,
            max_warps_per_sm: 64,
            registers_per_sm: 65536,
            max_registers_per_thread: 255,
            max_portable_cluster: 1,
            max_cluster: 1,
            tmem_columns: 0,
            max_mbarrier_count: crate::mbarrier::MAX_COUNT,
            max_mbarrier_tx: 0,
        };
        let sm90a = Limits {
            max_dynamic_shared_bytes: 227 * 1024,
            shared_bytes_per_sm: 228 * 1024,
            max_portable_cluster: 8,
            max_cluster: 16,
            max_mbarrier_tx: crate::mbarrier::MAX_TX,
            ..sm80
        };
        match self {
            Target::Sm80 => sm80,
            Target::Sm90a => sm90a,
            Target::Sm100a => Limits {
                tmem_columns: 512,
                ..sm90a
            },
        }
    }

    /// Whether a thread can sleep on an mbarrier (`mbarrier.try_wait`). Without it a wait polls
    /// `test_wait`. PTX ISA 9.1, 9.7.13.15.16.
    pub const fn has_try_wait(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether `mbarrier.arrive` takes a count without `.noComplete`. PTX ISA 9.1, 9.7.13.15.13.
    pub const fn has_arrive_count(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether an mbarrier counts bytes (`expect_tx`, `complete_tx`). PTX ISA 9.1, 9.7.13.15.5.
    pub const fn has_tx_count(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether there is an async proxy, and so a need for `fence.proxy.async`.
    /// PTX ISA 9.1, 9.7.9.25.2.
    pub const fn has_async_proxy(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether there are bulk copies (`cp.async.bulk`). PTX ISA 9.1, 9.7.9.25.4.
    pub const fn has_bulk_copies(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether there are tensor copies (`cp.async.bulk.tensor`). PTX ISA 9.1, 9.7.9.25.5.
    pub const fn has_tensor_copies(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether CTAs form clusters: remote arrives, multicast, `mapa`. PTX ISA 9.1, 2.2.2.
    pub const fn has_clusters(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether `elect.sync` exists; else lane 0 is chosen by its number. PTX ISA 9.1, 9.7.13.14.
    pub const fn has_elect(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether warpgroups can trade registers (`setmaxnreg`). PTX ISA 9.1, 9.7.19.5.
    pub const fn has_setmaxnreg(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether dependent grids can start early (`griddepcontrol`). PTX ISA 9.1, 9.7.13.13.
    pub const fn has_dependent_launch(self) -> bool {
        self.is_hopper_or_newer()
    }

    /// Whether there is `wgmma`. It exists on Hopper alone. PTX ISA 9.1, 9.7.15.
    pub const fn has_wgmma(self) -> bool {
        matches!(self, Target::Sm90a)
    }

    /// Whether there are `tcgen05` instructions and tensor memory. PTX ISA 9.1, 9.7.16.
    pub const fn has_tcgen05(self) -> bool {
        matches!(self, Target::Sm100a)
    }

    /// Whether two CTAs can work as a pair (`cta_group::2`). PTX ISA 9.1, 9.7.16.5.
    pub const fn has_cta_pairs(self) -> bool {
        matches!(self, Target::Sm100a)
    }

    /// Whether a running cluster can take over work of an unlaunched one (`clusterlaunchcontrol`).
    /// PTX ISA 9.1, 9.7.13.17.
    pub const fn has_cluster_launch_control(self) -> bool {
        matches!(self, Target::Sm100a)
    }

    const fn is_hopper_or_newer(self) -> bool {
        !matches!(self, Target::Sm80)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Target::ALL
            .into_iter()
            .find(|target| target.name() == name)
            .ok_or_else(|| UnknownTarget {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_a_wrong_one_lists_what_exists() {
        for (index, target) in Target::ALL.into_iter().enumerate() {
            assert_eq!(target.to_string().parse(), Ok(target));
            assert_eq!(target.index(), index);
        }
        let error = "sm_90".parse::<Target>().unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown target `sm_90`; known targets are sm_80, sm_90a, sm_100a"
        );
    }

    #[test]
    fn versions_round_trip_order_and_refuse() {
        for pair in PtxVersion::KNOWN.windows(2) {
            assert!(pair[0] < pair[1]);
            assert_eq!(pair[0].to_string().parse(), Ok(pair[0]));
        }
        for bad in [
            "", "8", "8.", ".6", "+8.6", "8.+6", "8.6.1", "8.256", " 8.6",
        ] {
            assert!(bad.parse::<PtxVersion>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn defaults_are_known_and_not_older_than_the_target() {
        for target in Target::ALL {
            assert!(PtxVersion::KNOWN.contains(&target.default_ptx_version()));
            assert!(target.first_ptx_version() <= target.default_ptx_version());
        }
    }

    #[test]
    fn limits_in_bytes() {
        let shared = Target::ALL.map(|t| t.limits().max_dynamic_shared_bytes);
        assert_eq!(shared, [166_912, 232_448, 232_448]);
        for limits in Target::ALL.map(Target::limits) {
            let one_cta = limits.max_dynamic_shared_bytes + limits.reserved_shared_bytes;
            assert_eq!(one_cta, limits.shared_bytes_per_sm);
        }
    }
}
