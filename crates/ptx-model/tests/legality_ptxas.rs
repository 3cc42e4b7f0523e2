//! Asks ptxas about every row of the legality table, on every target.
//!
//! For a cell with a version: that version assembles and the one before it does not. For an empty
//! cell: the newest version does not assemble. For `since`: that architecture has the form, and if
//! it ends in `a`, the plain architecture of the same number has not.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ptx_model::legality::{Form, Row, TABLE, probe};
use ptx_model::target::{PtxVersion, Target};

const WORKERS: usize = 2;

/// One question: does `row` assemble for `arch` at `version`, as the table says?
#[derive(Clone)]
struct Question<'a> {
    row: &'a Row,
    arch: String,
    version: PtxVersion,
    legal: bool,
}

/// A question that ptxas answered otherwise.
#[derive(Debug)]
struct Mismatch {
    form: Form,
    text: String,
}

fn before(version: PtxVersion, target: Target) -> Option<PtxVersion> {
    let older = PtxVersion::KNOWN
        .iter()
        .rev()
        .find(|&&known| known < version);
    older
        .copied()
        .filter(|&older| older >= target.first_ptx_version())
}

fn questions(rows: &[Row], newest: PtxVersion) -> Vec<Question<'_>> {
    let mut all = Vec::new();
    for row in rows {
        let mut ask = |arch: &str, version, legal| {
            all.push(Question {
                row,
                arch: arch.to_owned(),
                version,
                legal,
            });
        };
        for target in Target::ALL {
            match row.lowest_on(target) {
                None => ask(target.name(), newest, false),
                Some(lowest) => {
                    ask(target.name(), lowest, true);
                    if let Some(older) = before(lowest, target) {
                        ask(target.name(), older, false);
                    }
                }
            }
        }
        ask(row.since, newest, true);
        if let Some(plain) = row.since.strip_suffix('a') {
            ask(plain, newest, false);
        }
    }
    all
}

struct Ptxas {
    program: PathBuf,
    folder: PathBuf,
}

impl Ptxas {
    fn find(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let installed = root.join("target/tools/python/nvidia/cu13/bin/ptxas");
        let program = match std::env::var_os("ASYNC_PIPELINE_PTXAS") {
            Some(path) => PathBuf::from(path),
            None if installed.is_file() => installed,
            None => PathBuf::from("ptxas"),
        };
        if let Err(error) = Command::new(&program).arg("--version").output() {
            panic!(
                "cannot run ptxas ({}: {error}); run ./dev setup",
                program.display()
            );
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("the test's own folder can be made");
        Ptxas { program, folder }
    }

    /// The newest PTX version that this ptxas takes.
    fn newest(&self) -> PtxVersion {
        let takes = |version| {
            let empty = probe::module([], Target::Sm80.name(), version);
            let output = self.run(0, Target::Sm80.name(), &empty);
            output.expect("ptxas ran a moment ago").status.success()
        };
        let mut newest_first = PtxVersion::KNOWN.iter().rev().copied();
        newest_first
            .find(|&version| takes(version))
            .expect("ptxas takes some PTX for sm_80")
    }

    fn run(&self, slot: usize, arch: &str, text: &str) -> io::Result<Output> {
        let source = self.folder.join(format!("probe{slot}.ptx"));
        std::fs::write(&source, text)?;
        let object = self.folder.join(format!("probe{slot}.cubin"));
        Command::new(&self.program)
            .args(["-O0", "-arch", arch, "-o"])
            .arg(object)
            .arg(source)
            .output()
    }

    /// `None` if the module assembles, else what ptxas said.
    fn refusal(&self, slot: usize, questions: &[&Question]) -> Option<String> {
        let (arch, version) = (&questions[0].arch, questions[0].version);
        let text = probe::module(questions.iter().map(|question| question.row), arch, version);
        let output = self.run(slot, arch, &text).expect("ptxas ran a moment ago");
        // A killed or crashed ptxas must not count as "refused".
        assert!(output.status.code().is_some(), "ptxas died on {text}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (!output.status.success()).then_some(said)
    }
}

/// All that share an architecture and a version and should assemble go into one module; what should
/// be refused must be alone, since one refusal hides the others.
fn batches<'a>(questions: &'a [Question<'a>]) -> Vec<Vec<&'a Question<'a>>> {
    let mut together = BTreeMap::<_, Vec<_>>::new();
    let mut all = Vec::new();
    for question in questions {
        if question.legal {
            together
                .entry((&question.arch, question.version))
                .or_default()
                .push(question);
        } else {
            all.push(vec![question]);
        }
    }
    all.extend(together.into_values());
    all
}

fn judge(ptxas: &Ptxas, slot: usize, batch: &[&Question]) -> Vec<Mismatch> {
    let refusal = ptxas.refusal(slot, batch);
    if refusal.is_some() && batch.len() > 1 {
        return batch
            .iter()
            .flat_map(|&one| judge(ptxas, slot, &[one]))
            .collect();
    }
    let question = batch[0];
    if refusal.is_none() == question.legal {
        return Vec::new();
    }
    let Question {
        row, arch, version, ..
    } = question;
    let answer = match refusal {
        Some(said) => format!("should assemble, but ptxas says: {said}"),
        None => "assembles, but should not".to_owned(),
    };
    let text = format!(
        "{:?} ({}) for {arch}, PTX {version}: {answer}",
        row.form, row.snippet
    );
    vec![Mismatch {
        form: row.form,
        text,
    }]
}

/// Every cell of `rows` that ptxas does not agree with.
fn disagreements(name: &str, rows: &[Row]) -> Vec<Mismatch> {
    let ptxas = Ptxas::find(name);
    let questions = questions(rows, ptxas.newest());
    let batches = batches(&questions);
    let share = batches.len().div_ceil(WORKERS).max(1);
    std::thread::scope(|scope| {
        let work = |(slot, batches): (usize, _)| {
            let (ptxas, batches): (_, &[Vec<&Question>]) = (&ptxas, batches);
            scope.spawn(move || batches.iter().flat_map(|b| judge(ptxas, slot, b)).collect())
        };
        let workers: Vec<_> = batches.chunks(share).enumerate().map(work).collect();
        workers
            .into_iter()
            .flat_map(|w| -> Vec<_> { w.join().expect("a probe failed") })
            .collect()
    })
}

#[test]
fn ptxas_agrees_with_every_row() {
    let found = disagreements("every-row", TABLE);
    let report: Vec<_> = found.into_iter().map(|mismatch| mismatch.text).collect();
    assert!(
        report.is_empty(),
        "{} cells are wrong:\n{}",
        report.len(),
        report.join("\n")
    );
}

#[test]
fn planted_errors_are_found_and_nothing_else() {
    type Plant = (Form, fn(&mut Row));
    let plants: [Plant; 5] = [
        (Form::MbarrierTestWaitParity, |row| {
            row.lowest[0] = Some(PtxVersion::new(7, 0))
        }),
        (Form::CpAsyncIgnoreSrc, |row| {
            row.lowest[0] = Some(PtxVersion::new(7, 6))
        }),
        (Form::MbarrierTryWaitParity, |row| {
            row.lowest[0] = Some(PtxVersion::new(8, 0))
        }),
        (Form::ElectSync, |row| row.lowest[2] = None),
        (Form::TensormapReplace, |row| row.since = "sm_90"),
    ];
    let untouched = [
        Form::MbarrierInit,
        Form::BarSync,
        Form::WgmmaFence,
        Form::Tcgen05Commit,
    ];
    let planted = |form| plants.iter().find(|(planted, _)| *planted == form);
    let is_used = |row: &&Row| planted(row.form).is_some() || untouched.contains(&row.form);
    let mut rows: Vec<Row> = TABLE.iter().filter(is_used).cloned().collect();
    for row in &mut rows {
        if let Some((_, change)) = planted(row.form) {
            change(row);
        }
    }
    let found: BTreeSet<_> = disagreements("planted", &rows)
        .into_iter()
        .map(|m| m.form)
        .collect();
    assert_eq!(found, plants.iter().map(|(form, _)| *form).collect());
}
