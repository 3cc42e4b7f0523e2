//! Just enough of PTX to find branches and count instructions, in any compiler's output.

use std::collections::BTreeMap;

use super::{Event, Function, Instruction};

/// The functions with a body, in order.
pub(super) fn parse(text: &str) -> Vec<Function> {
    let mut parser = Parser {
        rest: text,
        line: 1,
        functions: Vec::new(),
        header: None,
        scopes: Vec::new(),
        next_scope: 0,
        labels: BTreeMap::new(),
        waiting: Vec::new(),
        tables: BTreeMap::new(),
        branches: Vec::new(),
    };
    while parser.statement() {}
    parser.finish_function();
    parser.functions
}

/// A label is known inside the braces around it; inline assembly uses one name many times.
type Label = (usize, String);

/// A label whose instruction has not been read yet. Braces may open or close before it comes, so
/// the scope of the label is kept.
struct Waiting {
    name: String,
    line: usize,
    scope: usize,
}

/// A branch whose targets are looked up when all labels of the function are known.
struct Branch {
    instruction: usize,
    scopes: Vec<usize>,
    target: String,
}

struct Parser<'a> {
    rest: &'a str,
    line: usize,
    functions: Vec<Function>,
    /// The name of a function whose body is about to begin.
    header: Option<String>,
    /// The scopes around the current place, innermost last; the first is the function's body.
    scopes: Vec<usize>,
    next_scope: usize,
    labels: BTreeMap<Label, usize>,
    /// Labels that belong to the next instruction.
    waiting: Vec<Waiting>,
    /// Branch tables by label.
    tables: BTreeMap<Label, Vec<String>>,
    branches: Vec<Branch>,
}

impl<'a> Parser<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            let length = if self.rest.starts_with("//") {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map_or(self.rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.take(length);
        }
    }

    /// Reads one statement, label or brace; false at the end.
    fn statement(&mut self) -> bool {
        self.skip_blanks_and_comments();
        let Some(first) = self.rest.chars().next() else {
            return false;
        };
        match first {
            '{' => {
                self.take(1);
                self.open_scope();
            }
            '}' => {
                self.take(1);
                self.close_scope();
            }
            ';' => {
                self.take(1);
            }
            '.' => self.directive(),
            _ => self.label_or_instruction(first.len_utf8()),
        }
        true
    }

    fn open_scope(&mut self) {
        if self.scopes.is_empty() {
            let Some(name) = self.header.take() else {
                // A block that is no function, such as debug data: skip what is in it.
                let length = self.rest.find('}').map_or(self.rest.len(), |end| end + 1);
                self.take(length);
                return;
            };
            self.functions.push(Function {
                name,
                instructions: Vec::new(),
            });
        }
        self.scopes.push(self.next_scope);
        self.next_scope += 1;
    }

    fn close_scope(&mut self) {
        self.scopes.pop();
        if self.scopes.is_empty() {
            self.finish_function();
        }
    }

    fn directive(&mut self) {
        let word_end = |c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_');
        let length = self.rest.find(word_end).unwrap_or(self.rest.len());
        let word = &self.rest[..length];
        if matches!(
            word,
            ".loc" | ".file" | ".version" | ".target" | ".address_size" | ".section"
        ) {
            let stop = |c: char| c == '\n' || (word == ".section" && c == '{');
            let length = self.rest.find(stop).unwrap_or(self.rest.len());
            self.take(length);
            return;
        }
        let (text, ends_with_brace) = self.read_until_end(true);
        if word == ".branchtargets" {
            let names = text[length..]
                .split(',')
                .map(|n| n.trim().to_owned())
                .collect();
            if let Some(label) = self.waiting.pop() {
                self.tables.insert((label.scope, label.name), names);
            }
        } else if ends_with_brace {
            self.header = function_name(&text);
        }
    }

    /// Reads to the end of the statement: past its `;`, or up to the `{` of a body if there can
    /// be one. Braces around operands and initial values belong to the statement.
    fn read_until_end(&mut self, body_possible: bool) -> (String, bool) {
        let mut text = String::new();
        loop {
            let stop = |c: char| matches!(c, ';' | '{' | '"' | '/');
            let length = self.rest.find(stop).unwrap_or(self.rest.len());
            text += self.take(length);
            match self.rest.chars().next() {
                None => return (text, false),
                Some(';') => {
                    self.take(1);
                    return (text, false);
                }
                Some('{') if body_possible && !text.contains('=') => return (text, true),
                Some('"') => {
                    let close = self.rest[1..]
                        .find('"')
                        .map_or(self.rest.len(), |end| end + 2);
                    self.take(close);
                }
                Some(_) if self.rest.starts_with("//") || self.rest.starts_with("/*") => {
                    self.skip_blanks_and_comments();
                    text.push(' ');
                }
                Some(c) => text += self.take(c.len_utf8()),
            }
        }
    }

    fn label_or_instruction(&mut self, first_length: usize) {
        let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%'));
        let length = self.rest.find(ends).unwrap_or(self.rest.len());
        let after = self.rest[length..].trim_start_matches([' ', '\t']);
        if length > 0 && after.starts_with(':') && !after.starts_with("::") {
            let line = self.line;
            let name = self.take(length).to_owned();
            self.skip_blanks_and_comments();
            self.take(1);
            let scope = self.scopes.last().copied().unwrap_or(0);
            self.waiting.push(Waiting { name, line, scope });
            return;
        }
        let line = self.line;
        // At least one character, so that no input stands still.
        let start = self.take(first_length).to_owned();
        let (text, _) = self.read_until_end(false);
        self.instruction(&(start + &text), line);
    }

    fn instruction(&mut self, text: &str, line: usize) {
        if self.scopes.is_empty() {
            return;
        }
        let Some(function) = self.functions.last_mut() else {
            return;
        };
        let index = function.instructions.len();
        let (guarded, opcode, operands) = split(text);
        let labels = std::mem::take(&mut self.waiting);
        let first = labels.first();
        let label = first.map(|label| label.name.clone());
        let line = first.map_or(line, |label| label.line);
        for label in labels {
            self.labels.insert((label.scope, label.name), index);
        }
        let mut parts = opcode.split('.');
        let base = parts.next().unwrap_or("");
        if matches!(base, "bra" | "brx") {
            let target = operands.rsplit(',').next().unwrap_or("").trim().to_owned();
            self.branches.push(Branch {
                instruction: index,
                scopes: self.scopes.clone(),
                target,
            });
        }
        let leaves = matches!(base, "bra" | "brx" | "ret" | "exit" | "trap");
        let event = event(&opcode);
        function.instructions.push(Instruction {
            label,
            line,
            event,
            operands: wait_operands(event, &operands),
            works: works(&opcode),
            targets: Vec::new(),
            falls_through: guarded || !leaves,
            serialises: false,
        });
    }

    fn finish_function(&mut self) {
        let labels = std::mem::take(&mut self.labels);
        let tables = std::mem::take(&mut self.tables);
        let branches = std::mem::take(&mut self.branches);
        self.waiting.clear();
        let Some(function) = self.functions.last_mut() else {
            return;
        };
        for branch in branches {
            let find = |name: &str| {
                let mut scopes = branch.scopes.iter().rev();
                scopes.find_map(|&scope| labels.get(&(scope, name.to_owned())).copied())
            };
            let mut scopes = branch.scopes.iter().rev();
            let table = scopes.find_map(|&scope| tables.get(&(scope, branch.target.clone())));
            let targets: Vec<usize> = match table {
                Some(names) => names.iter().filter_map(|name| find(name)).collect(),
                None => find(&branch.target).into_iter().collect(),
            };
            if let Some(instruction) = function.instructions.get_mut(branch.instruction) {
                instruction.targets = targets;
            }
        }
    }
}

/// The name after `.entry` or `.func`, past the return parameters that a function may have.
fn function_name(header: &str) -> Option<String> {
    let (at, is_entry) = match (header.find(".entry"), header.find(".func")) {
        (Some(at), _) => (at + 6, true),
        (None, Some(at)) => (at + 5, false),
        (None, None) => return None,
    };
    let mut rest = header[at..].trim_start();
    if !is_entry && rest.starts_with('(') {
        rest = rest
            .split_once(')')
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    let ends = |c: char| c == '(' || c.is_whitespace();
    let name = rest.split(ends).next().unwrap_or("");
    (!name.is_empty()).then(|| name.to_owned())
}

/// Guard present, opcode without blanks, operands.
fn split(text: &str) -> (bool, String, String) {
    let mut rest = text.trim();
    let guarded = rest.starts_with('@');
    if guarded {
        rest = rest
            .split_once(char::is_whitespace)
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    // Some compilers put blanks before the dots of an opcode.
    let mut opcode = String::new();
    loop {
        let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':'));
        let length = rest.find(ends).unwrap_or(rest.len());
        opcode += &rest[..length];
        let after = rest[length..].trim_start();
        if !after.starts_with('.') || after.len() == rest.len() {
            return (guarded, opcode, after.trim().to_owned());
        }
        rest = after;
    }
}

/// Address and phase of a wait: everything after the predicate, without blanks.
fn wait_operands(event: Option<Event>, operands: &str) -> String {
    if !event.is_some_and(Event::is_wait) {
        return String::new();
    }
    let kept = operands.split_once(',').map_or("", |(_, kept)| kept);
    kept.split_whitespace().collect()
}

fn event(opcode: &str) -> Option<Event> {
    let has = |part: &str| opcode.split('.').any(|p| p == part);
    let mut parts = opcode.split('.');
    let base = parts.next().unwrap_or("");
    let second = parts.next().unwrap_or("");
    Some(match (base, second) {
        ("mbarrier", "try_wait") => Event::TryWait,
        ("mbarrier", "test_wait") => Event::TestWait,
        ("mbarrier", "expect_tx") => Event::ExpectTx,
        ("mbarrier", "arrive") if has("expect_tx") => Event::ExpectTx,
        ("mbarrier", "arrive" | "arrive_drop") => Event::Arrive,
        ("tcgen05", "commit") => Event::Commit,
        ("cp", "async") if has("mbarrier") && !has("bulk") => Event::Arrive,
        ("cp", _) if has("commit_group") || has("wait_group") || has("wait_all") => return None,
        ("cp", "async" | "reduce") if has("bulk") && !has("prefetch") => Event::BulkCopy,
        ("cp", "async") if !has("bulk") => Event::CpAsync,
        ("bar" | "barrier", "warp") => Event::BarWarpSync,
        ("bar" | "barrier", "cluster") => return None,
        ("bar" | "barrier", _) if has("sync") || has("red") => Event::BarSync,
        ("elect", "sync") => Event::Elect,
        ("fence", "proxy") if has("async") || opcode.contains("async::") => Event::FenceProxyAsync,
        ("nanosleep", _) => Event::Nanosleep,
        _ => return None,
    })
}

/// Whether an instruction touches memory or the tensor cores.
fn works(opcode: &str) -> bool {
    let base = opcode.split('.').next().unwrap_or("");
    let parameter = opcode.contains(".param");
    let work = [
        "ld", "st", "atom", "red", "mma", "wgmma", "tcgen05", "ldmatrix", "stmatrix",
    ];
    work.contains(&base) && !parameter
}
