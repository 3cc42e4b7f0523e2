//! Which instruction form exists on which target, and from which PTX version on.
//!
//! The question has to be settled before LLVM sees a kernel: its back end aborts the process on an
//! instruction that it cannot select. So the answers are data, a row per form, and a test asks
//! ptxas about every row. What ptxas accepts is the measure; the section of the PTX ISA in each row
//! says where the rule is written down.

use std::fmt::Write as _;

use thiserror::Error;

use crate::target::{PtxVersion, Target};

pub mod probe;
mod table;

pub use table::{Form, TABLE};

/// Where one instruction form exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The form.
    pub form: Form,
    /// The mnemonic with the modifiers that matter, as used in messages.
    pub name: &'static str,
    /// An instruction (or a few) of this form that assembles inside [`probe::module`].
    pub snippet: &'static str,
    /// The oldest architecture that has the form. A trailing `a` says that the form belongs to
    /// single architectures and is not handed on to later ones.
    pub since: &'static str,
    /// The lowest PTX version per target, in the order of [`Target::ALL`]; `None`: not there.
    pub lowest: [Option<PtxVersion>; 3],
    /// Where the rule is written down.
    pub source: &'static str,
}

/// Why a form cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LegalityError {
    /// The target lacks the form at every PTX version.
    #[error("`{name}` needs {needs}; {target} does not have it")]
    Target {
        /// The form's name.
        name: &'static str,
        /// The architectures that have it, in words.
        needs: String,
        /// The target that was asked for.
        target: Target,
    },
    /// The target has the form, but only from a later PTX version on.
    #[error("`{name}` needs PTX {needs} on {target}; {asked} was asked for")]
    Version {
        /// The form's name.
        name: &'static str,
        /// The lowest version that has it.
        needs: PtxVersion,
        /// The version that was asked for.
        asked: PtxVersion,
        /// The target that was asked for.
        target: Target,
    },
}

impl Row {
    /// The lowest PTX version that has this form on `target`.
    pub fn lowest_on(&self, target: Target) -> Option<PtxVersion> {
        self.lowest[target.index()]
    }

    /// Whether the form belongs to single architectures (`sm_90a`) and not to all later ones.
    pub fn is_architecture_specific(&self) -> bool {
        self.since.ends_with('a')
    }

    /// Decides whether this form may be emitted for `target` in a module of version `ptx`.
    pub fn check(&self, target: Target, ptx: PtxVersion) -> Result<(), LegalityError> {
        match self.lowest_on(target) {
            None => Err(LegalityError::Target {
                name: self.name,
                needs: self.needs(),
                target,
            }),
            Some(needs) if ptx < needs => Err(LegalityError::Version {
                name: self.name,
                needs,
                asked: ptx,
                target,
            }),
            Some(_) => Ok(()),
        }
    }

    fn needs(&self) -> String {
        if !self.is_architecture_specific() {
            return format!("{} or newer", self.since);
        }
        let having = Target::ALL
            .into_iter()
            .filter(|&target| self.lowest_on(target).is_some());
        let names: Vec<_> = having.map(Target::name).collect();
        if names.is_empty() {
            self.since.to_owned()
        } else {
            names.join(" or ")
        }
    }
}

/// The row of a form.
pub fn lookup(form: Form) -> &'static Row {
    // One macro makes `Form` and `TABLE` in the same order, and a test holds it to that.
    &TABLE[form as usize]
}

/// Decides whether `form` may be emitted for `target` in a module of version `ptx`.
pub fn check(form: Form, target: Target, ptx: PtxVersion) -> Result<(), LegalityError> {
    lookup(form).check(target, ptx)
}

/// The table as a Markdown page.
pub fn render_markdown() -> String {
    let mut page = String::from(
        "<!-- Generated from crates/ptx-model/src/legality/table.rs. \
         To renew it: BLESS=1 cargo test -p ptx-model -->\n\n\
         # Instruction forms by target\n\n\
         The lowest PTX version that has a form, per target; `-` means that no version has it. \
         ptxas is asked about every cell.\n\n",
    );
    let targets = Target::ALL.map(Target::name).join(" | ");
    // Writing to a `String` cannot fail.
    let _ = writeln!(page, "| Form | {targets} | Rule |\n|---|---|---|---|---|");
    for row in TABLE {
        let cells = row
            .lowest
            .map(|v| v.map_or_else(|| "-".to_owned(), |v| v.to_string()));
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            row.name,
            cells.join(" | "),
            row.source
        );
    }
    page
}

/// `-` or a literal such as `8.6` as an `Option<PtxVersion>`.
macro_rules! version {
    (-) => {
        None
    };
    ($literal:literal) => {
        Some(const { $crate::legality::one_digit_version(stringify!($literal)) })
    };
}
use version;

/// Reads `8.6`. Runs at compile time only, where a panic is a compile error.
const fn one_digit_version(text: &str) -> PtxVersion {
    match text.as_bytes() {
        [major @ b'0'..=b'9', b'.', minor @ b'0'..=b'9'] => {
            PtxVersion::new(*major - b'0', *minor - b'0')
        }
        _ => panic!("write versions as one digit, a dot, one digit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_where_their_form_says_and_have_names_of_their_own() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.form as usize, index);
            assert_eq!(lookup(row.form), row);
            let same_name = TABLE.iter().filter(|other| other.name == row.name).count();
            assert_eq!(same_name, 1, "{}", row.name);
        }
    }

    #[test]
    fn versions_are_known_ones_and_not_older_than_the_target() {
        for row in TABLE {
            for target in Target::ALL {
                let Some(lowest) = row.lowest_on(target) else {
                    continue;
                };
                assert!(PtxVersion::KNOWN.contains(&lowest), "{}", row.name);
                assert!(lowest >= target.first_ptx_version(), "{}", row.name);
            }
        }
    }

    #[test]
    fn messages_name_the_form_and_what_would_do() {
        let message = |form, target, ptx| check(form, target, ptx).unwrap_err().to_string();
        let (v80, v86) = (PtxVersion::new(8, 0), PtxVersion::new(8, 6));
        assert_eq!(
            message(Form::MbarrierTryWaitParity, Target::Sm80, v86),
            "`mbarrier.try_wait.parity` needs sm_90 or newer; sm_80 does not have it"
        );
        assert_eq!(
            message(Form::WgmmaFence, Target::Sm100a, v86),
            "`wgmma.fence` needs sm_90a; sm_100a does not have it"
        );
        assert_eq!(
            message(Form::TensormapReplace, Target::Sm80, v86),
            "`tensormap.replace` needs sm_90a or sm_100a; sm_80 does not have it"
        );
        assert_eq!(
            message(Form::Tcgen05LdRed, Target::Sm100a, v86),
            "`tcgen05.ld.red` needs sm_103a; sm_100a does not have it"
        );
        assert_eq!(
            message(Form::CpAsyncBulkLoadCta, Target::Sm90a, v80),
            "`cp.async.bulk.shared::cta.global` needs PTX 8.6 on sm_90a; 8.0 was asked for"
        );
    }

    #[test]
    fn what_sm_80_has_of_the_mbarrier_at_its_default_version() {
        let on_sm80 = |form| check(form, Target::Sm80, Target::Sm80.default_ptx_version()).is_ok();
        for form in [
            Form::MbarrierInit,
            Form::MbarrierInval,
            Form::MbarrierArrive,
            Form::MbarrierArriveNoComplete,
            Form::MbarrierArriveDrop,
            Form::MbarrierTestWait,
            Form::MbarrierTestWaitParity,
            Form::CpAsyncMbarrierArrive,
            Form::CpAsyncMbarrierArriveNoinc,
        ] {
            assert!(on_sm80(form), "{form:?}");
        }
        for form in [
            Form::MbarrierTryWait,
            Form::MbarrierTryWaitParity,
            Form::MbarrierArriveExpectTx,
            Form::MbarrierArriveCount,
            Form::MbarrierArriveReleaseCluster,
            Form::FenceMbarrierInit,
            Form::CpAsyncBulkLoad,
        ] {
            assert!(!on_sm80(form), "{form:?}");
        }
    }
}
