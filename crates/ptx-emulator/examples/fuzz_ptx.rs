//! Mutates small PTX kernels and looks for inputs that crash or hang the emulator.
//!
//! ```text
//! fuzz_ptx [--seconds N] [--seed N] [--corpus FOLDER] [--out FOLDER]
//! fuzz_ptx --replay FILE
//! ```
//!
//! Every input must end in an error with a place in the text, or in an outcome, within thirty
//! seconds. One that does not is kept in the output folder. The input at work is always in
//! `current.ptx` there, so that it is known even if the whole process dies.

use std::{
    fs::{self, File},
    io::{self, Seek, Write},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use ptx_emulator::{
    Emulator, Launch, Options, Program, Schedule,
    syntax::{self, ast::Span},
    tensor_map::{MapElement, TensorMap},
};

/// How long one input may take.
const PATIENCE: Duration = Duration::from_secs(30);

struct Arguments {
    seconds: u64,
    seed: u64,
    corpus: PathBuf,
    out: PathBuf,
    replay: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        seconds: 60,
        seed: 1,
        corpus: "tests/fuzz-corpus/ptx".into(),
        out: "target/fuzz".into(),
        replay: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option.to_owned(), value.to_owned()),
            None => {
                let value = words.next();
                let value = value.ok_or_else(|| format!("{word} needs a value"))?;
                (word, value)
            }
        };
        let number = || {
            value
                .parse()
                .map_err(|_| format!("{option} needs a number"))
        };
        match option.as_str() {
            "--seconds" => parsed.seconds = number()?,
            "--seed" => parsed.seed = number()?,
            "--corpus" => parsed.corpus = value.into(),
            "--out" => parsed.out = value.into(),
            "--replay" => parsed.replay = Some(value.into()),
            _ => return Err(format!("unknown option {option}")),
        }
    }
    Ok(parsed)
}

/// splitmix64: the same inputs for the same seed everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap_or(0)
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> Option<&'a T> {
        list.get(self.below(list.len())).copied()
    }
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "8",
    "15",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "256",
    "1023",
    "1024",
    "1025",
    "4096",
    "65535",
    "65536",
    "1048576",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "0x7f",
    "0xffffffff",
    "0xffffffffffffffff",
    "0f7F800000",
    "0fFFC00000",
    "0d7FF0000000000000",
];

/// Pieces of a line: words with dots and signs in one, and what stands between them.
fn pieces(line: &str) -> Vec<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || "_$%.:-".contains(c);
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let kind = word(first);
        let end = rest.find(|c| word(c) != kind).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn mutate(text: &str, other: &str, chance: &mut Chance) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let words: Vec<&str> = other
        .lines()
        .chain(text.lines())
        .flat_map(pieces)
        .filter(|p| p.chars().any(|c| c.is_ascii_alphanumeric()))
        .collect();
    let modifiers: Vec<&str> = words.iter().flat_map(|w| w.split('.').skip(1)).collect();
    for _ in 0..=chance.below(4) {
        if lines.is_empty() {
            break;
        }
        let at = chance.below(lines.len());
        match chance.below(10) {
            0 => {
                lines.remove(at);
            }
            1 => {
                let to = chance.below(lines.len());
                lines.insert(to, lines[at].clone());
            }
            2 => {
                let to = chance.below(lines.len());
                lines.swap(at, to);
            }
            3 => {
                let from: Vec<&str> = other.lines().collect();
                if let Some(line) = chance.of(&from) {
                    lines.insert(at, line.to_owned());
                }
            }
            4 => change_word(&mut lines[at], chance, |_, chance| {
                chance.of(NUMBERS).map(str::to_owned)
            }),
            5 | 6 => change_word(&mut lines[at], chance, |old, chance| {
                let kind = old.chars().next();
                let like: Vec<&str> = words
                    .iter()
                    .filter(|w| w.chars().next() == kind)
                    .copied()
                    .collect();
                chance.of(&like).map(str::to_owned)
            }),
            7 => change_word(&mut lines[at], chance, |old, chance| {
                let mut parts: Vec<&str> = old.split('.').collect();
                let n = chance.below(parts.len());
                match chance.below(3) {
                    0 => {
                        parts.remove(n);
                    }
                    1 => parts.insert(n, chance.of(&modifiers)?),
                    _ => parts[n] = chance.of(&modifiers)?,
                }
                Some(parts.join("."))
            }),
            8 => {
                let cut = chance.below(lines[at].len() + 1);
                if lines[at].is_char_boundary(cut) {
                    let with = [
                        "{", "}", "[", "]", "(", ",", ";", "@", "%", "!", "\"", " ", "é", "",
                    ];
                    let with = chance.of(&with).unwrap_or("");
                    lines[at].insert_str(cut, with);
                }
            }
            _ => {
                let keep = chance.below(lines[at].len() + 1);
                if lines[at].is_char_boundary(keep) {
                    lines[at].truncate(keep);
                }
            }
        }
    }
    lines.join("\n") + "\n"
}

fn change_word(
    line: &mut String,
    chance: &mut Chance,
    change: impl Fn(&str, &mut Chance) -> Option<String>,
) {
    let pieces = pieces(line);
    let n = chance.below(pieces.len());
    let Some(new) = pieces.get(n).and_then(|old| change(old, chance)) else {
        return;
    };
    let mut made = pieces[..n].concat();
    made += &new;
    made += &pieces[n + 1..].concat();
    *line = made;
}

/// What became of an input.
enum Fate {
    Refused,
    Ran { clean: bool },
}

/// A place that points into the text.
fn check_place(text: &str, span: Span) {
    let line = text
        .lines()
        .nth((span.line as usize).saturating_sub(1))
        .unwrap_or("");
    let end = text.lines().count() as u32 + 1;
    assert!(
        (1..=end).contains(&span.line) && (1..=line.len() as u32 + 2).contains(&span.column),
        "an error at {}:{} outside the text",
        span.line,
        span.column
    );
}

fn run(text: &str, chance: &mut Chance) -> Fate {
    let module = match syntax::parse(text) {
        Ok(module) => module,
        Err(error) => {
            check_place(text, error.span);
            return Fate::Refused;
        }
    };
    let mut fate = Fate::Refused;
    for entry in module.entries.iter().take(2) {
        let program = match Program::new(&module, entry) {
            Ok(program) => Arc::new(program),
            Err(error) => {
                check_place(text, error.span);
                continue;
            }
        };
        let Ok(mut emulator) = Emulator::new(program.clone()) else {
            continue;
        };
        let launch = launch(&program, &mut emulator, chance);
        let options = Options {
            schedule: Schedule::nth(chance.next() % 12, chance.next()),
            strict: chance.below(4) == 0,
            detect: chance.below(8) != 0,
            trace: chance.below(8) == 0,
            max_steps: 2_000,
            livelock_steps: 1_000,
            ..Options::default()
        };
        if let Ok(outcome) = emulator.run(&launch, &options) {
            if let Some(trace) = &outcome.trace {
                let mut sink = Vec::new();
                trace
                    .write_chrome(&mut sink, &|_| None)
                    .expect("memory takes everything");
            }
            assert!(
                outcome.completed || !outcome.reports.is_empty(),
                "a run ended early without a report"
            );
            fate = Fate::Ran {
                clean: outcome.is_clean(),
            };
        }
    }
    fate
}

/// A launch that fits the kernel's parameters: addresses for 8 bytes, tensor maps for 128.
fn launch(program: &Program, emulator: &mut Emulator, chance: &mut Chance) -> Launch {
    let mut parameters = Vec::new();
    for (index, (_, bytes)) in program.parameters().iter().enumerate() {
        let name = format!("argument {index}");
        let address = emulator.memory_mut().allocate(4096, &name).unwrap_or(0);
        parameters.push(match bytes {
            8 => address.to_le_bytes().to_vec(),
            128 => {
                let map = TensorMap::tiled(MapElement::F32, address, &[16, 16], &[64], &[16, 4]);
                map.map_or_else(|_| Vec::new(), |map| map.encode().to_vec())
            }
            _ => vec![64],
        });
    }
    Launch {
        grid: [
            program
                .cluster
                .map_or(1, |c| c[0])
                .saturating_mul(1 + chance.below(3) as u32),
            1,
            1,
        ],
        block: program
            .required_block
            .unwrap_or([[1, 32, 64, 128][chance.below(4)], 1, 1]),
        cluster: program.cluster.unwrap_or([1; 3]),
        dynamic_shared_bytes: [0, 1024, 16384][chance.below(3)],
        parameters,
    }
}

/// Ends the process if one input takes too long.
fn watch(began: Arc<Mutex<Instant>>, current: PathBuf) {
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_millis(500));
            let waited = began.lock().map_or(Duration::ZERO, |began| began.elapsed());
            if waited > PATIENCE {
                println!("{}: no end within {PATIENCE:?}", current.display());
                process::exit(1);
            }
        }
    });
}

/// Puts `text` into a file that stays open: opening it anew costs more than most inputs.
fn overwrite(file: &mut File, text: &str) -> io::Result<()> {
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

fn fuzz(arguments: &Arguments) -> Result<bool, String> {
    let seeds = read_corpus(&arguments.corpus)?;
    fs::create_dir_all(&arguments.out).map_err(|error| error.to_string())?;
    let current = arguments.out.join("current.ptx");
    let began = Arc::new(Mutex::new(Instant::now()));
    watch(began.clone(), current.clone());
    let mut at_work = File::create(&current).map_err(|error| error.to_string())?;
    // The message of each crash is printed once, with the file that causes it.
    let message = Arc::new(Mutex::new(String::new()));
    let kept = message.clone();
    panic::set_hook(Box::new(move |info| {
        if let Ok(mut kept) = kept.lock() {
            *kept = info.to_string();
        }
    }));
    let mut chance = Chance(arguments.seed);
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let (mut runs, mut ran, mut clean) = (0u64, 0u64, 0u64);
    let mut crashes = Vec::new();
    while Instant::now() < end {
        let (text, other) = (chance.below(seeds.len()), chance.below(seeds.len()));
        let text = mutate(&seeds[text], &seeds[other], &mut chance);
        overwrite(&mut at_work, &text).map_err(|error| error.to_string())?;
        if let Ok(mut began) = began.lock() {
            *began = Instant::now();
        }
        runs += 1;
        match panic::catch_unwind(AssertUnwindSafe(|| run(&text, &mut chance))) {
            Ok(Fate::Refused) => {}
            Ok(Fate::Ran { clean: is_clean }) => {
                ran += 1;
                clean += u64::from(is_clean);
            }
            Err(_) => {
                let name = format!("crash-ptx-{}-{runs}.ptx", arguments.seed);
                let path = arguments.out.join(name);
                fs::write(&path, &text).map_err(|error| error.to_string())?;
                println!(
                    "{}: {}",
                    path.display(),
                    message.lock().map_or_else(|_| String::new(), |m| m.clone())
                );
                crashes.push(path);
            }
        }
    }
    let _ = fs::remove_file(&current);
    println!(
        "fuzz ptx: {runs} inputs from {} seeds, {ran} ran, {clean} of them clean, {} crashes",
        seeds.len(),
        crashes.len()
    );
    Ok(crashes.is_empty())
}

fn read_corpus(folder: &Path) -> Result<Vec<String>, String> {
    let fail = |error| format!("cannot read {}: {error}", folder.display());
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(fail)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    paths.sort();
    let texts: Result<Vec<_>, _> = paths.iter().map(fs::read_to_string).collect();
    let texts = texts.map_err(fail)?;
    if texts.is_empty() {
        return Err(format!("there are no .ptx files in {}", folder.display()));
    }
    Ok(texts)
}

fn replay(path: &Path) -> Result<bool, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    for seed in 0..20 {
        run(&text, &mut Chance(seed));
    }
    println!("{}: no crash", path.display());
    Ok(true)
}

fn main() -> ExitCode {
    let result = arguments().and_then(|arguments| match &arguments.replay {
        Some(path) => replay(path),
        None => fuzz(&arguments),
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
