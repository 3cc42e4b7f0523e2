//! Pass options: text from the command line, parsed once into typed values.

use async_pipeline_sys::OptionSpec;
use ptx_model::target::{PtxVersion, Target};

/// The target option.
pub(crate) const TARGET: OptionSpec = OptionSpec {
    name: "target",
    description: "Target: sm_80, sm_90a or sm_100a",
    default: "",
};
/// The stage-count option.
pub(crate) const STAGES: OptionSpec = OptionSpec {
    name: "stages",
    description: "Slots of every channel that does not say `exactly` (default: what the channel says, else 4)",
    default: "",
};
/// The PTX version option.
pub(crate) const PTX_VERSION: OptionSpec = OptionSpec {
    name: "ptx-version",
    description: "PTX ISA version (default: 8.0 for sm_80, 8.6 for sm_90a, 8.7 for sm_100a)",
    default: "",
};
/// The form of asynchronous arrive behind cp.async copies.
pub(crate) const CP_ASYNC_ARRIVE: OptionSpec = OptionSpec {
    name: "cp-async-arrive",
    description: "Arrive behind cp.async copies: noinc (counted by init) or inc (net zero, then a plain arrive)",
    default: "noinc",
};
/// How a role keeps a ring that it fills and drains itself.
pub(crate) const SYNC: OptionSpec = OptionSpec {
    name: "sync",
    description: "Rings that one role fills by cp.async and drains: mbarrier, or groups (wait_group and one barrier of the role per iteration)",
    default: "mbarrier",
};
/// Line tables.
pub(crate) const DEBUG_LINES: OptionSpec = OptionSpec {
    name: "debug-lines",
    description: "Write source lines into the PTX as .loc",
    default: "false",
};
/// Trap on waits that last too long.
pub(crate) const WAIT_TIMEOUT: OptionSpec = OptionSpec {
    name: "wait-timeout",
    description: "Trap when a wait lasts longer than this many microseconds, and report barrier, parity and role (0: wait for ever)",
    default: "0",
};

/// One option with its value.
#[derive(Clone, Copy, Debug)]
pub struct PassOption<'a> {
    /// What it is.
    pub spec: &'static OptionSpec,
    /// Its text.
    pub value: &'a str,
}

/// The options of one run of a pass.
#[derive(Debug)]
pub struct Options<'a> {
    values: Vec<PassOption<'a>>,
}

/// Which asynchronous arrive follows cp.async copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpAsyncArrive {
    /// Counted by `mbarrier.init`, one per thread.
    Noinc,
    /// Raises the pending count first; each thread then also arrives itself.
    Inc,
}

impl CpAsyncArrive {
    /// The option's text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Noinc => "noinc",
            Self::Inc => "inc",
        }
    }
}

/// How a role keeps a ring that it fills by `cp.async` and drains itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Full and empty mbarriers, as between roles.
    Mbarrier,
    /// `cp.async.wait_group` and one barrier of the role's threads per iteration.
    Groups,
}

impl Sync {
    /// The option's text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mbarrier => "mbarrier",
            Self::Groups => "groups",
        }
    }
}

impl<'a> Options<'a> {
    /// Pairs specs with values; a missing value is the default.
    pub fn new(specs: &'static [OptionSpec], values: &[&'a str]) -> Self {
        let values = specs
            .iter()
            .enumerate()
            .map(|(index, spec)| PassOption {
                spec,
                value: values.get(index).copied().unwrap_or(spec.default),
            })
            .collect();
        Self { values }
    }

    /// The text of an option; empty if the pass has no such option.
    pub fn text(&self, name: &str) -> &'a str {
        self.values
            .iter()
            .find(|option| option.spec.name == name)
            .map(|option| option.value.trim())
            .unwrap_or_default()
    }

    /// The target, which has no default.
    ///
    /// # Errors
    /// A sentence that names the known targets.
    pub fn target(&self) -> Result<Target, String> {
        match self.text(TARGET.name) {
            "" => {
                let names: Vec<String> = Target::ALL.iter().map(ToString::to_string).collect();
                Err(format!(
                    "no target given: add target= with one of {}",
                    names.join(", ")
                ))
            }
            text => text.parse::<Target>().map_err(|error| error.to_string()),
        }
    }

    /// The PTX version, by default the target's.
    ///
    /// # Errors
    /// A sentence about the value.
    pub fn ptx_version(&self, target: Target) -> Result<PtxVersion, String> {
        match self.text(PTX_VERSION.name) {
            "" => Ok(target.default_ptx_version()),
            text => text
                .parse::<PtxVersion>()
                .map_err(|error| error.to_string()),
        }
    }

    /// The stage count, if one is given.
    ///
    /// # Errors
    /// A sentence about the value.
    pub fn stages(&self) -> Result<Option<i64>, String> {
        match self.text(STAGES.name) {
            "" => Ok(None),
            text => match text.parse::<i64>() {
                Ok(stages @ 1..=64) => Ok(Some(stages)),
                _ => Err(format!("expected stages from 1 to 64, got '{text}'")),
            },
        }
    }

    /// The form of the cp.async arrive.
    ///
    /// # Errors
    /// A sentence about the value.
    pub fn cp_async_arrive(&self) -> Result<CpAsyncArrive, String> {
        match self.text(CP_ASYNC_ARRIVE.name) {
            "" | "noinc" => Ok(CpAsyncArrive::Noinc),
            "inc" => Ok(CpAsyncArrive::Inc),
            text => Err(format!(
                "expected cp-async-arrive to be noinc or inc, got '{text}'"
            )),
        }
    }

    /// How a ring of one role is kept.
    ///
    /// # Errors
    /// A sentence about the value.
    pub fn sync(&self) -> Result<Sync, String> {
        match self.text(SYNC.name) {
            "" | "mbarrier" => Ok(Sync::Mbarrier),
            "groups" => Ok(Sync::Groups),
            text => Err(format!(
                "expected sync to be mbarrier or groups, got '{text}'"
            )),
        }
    }

    /// Whether line tables are wanted.
    ///
    /// # Errors
    /// A sentence about the value.
    pub fn debug_lines(&self) -> Result<bool, String> {
        match self.text(DEBUG_LINES.name) {
            "" | "false" | "0" => Ok(false),
            "true" | "1" => Ok(true),
            text => Err(format!(
                "expected debug-lines to be true or false, got '{text}'"
            )),
        }
    }

    /// The wait timeout in microseconds, if there is one.
    ///
    /// # Errors
    /// A sentence about the value.
    pub fn wait_timeout(&self) -> Result<Option<u64>, String> {
        match self.text(WAIT_TIMEOUT.name) {
            "" => Ok(None),
            text => match text.parse::<u64>() {
                Ok(0) => Ok(None),
                Ok(micros) if micros <= 1_000_000_000 => Ok(Some(micros)),
                _ => Err(format!(
                    "expected wait-timeout from 0 to 1000000000 microseconds, got '{text}'"
                )),
            },
        }
    }
}
