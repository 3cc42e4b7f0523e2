//! The way from C++ back into Rust: verifiers, passes, the pipeline, the back end.
//!
//! Nothing unwinds into C++: a panic becomes a located internal error.

use crate::{
    ffi::{self, TextSink},
    ir::{Attr, Loc, Op, borrow_bytes, borrow_str, emit_error, string_ref},
};
use mlir_sys::{MlirAttribute, MlirOperation, MlirStringRef};
use std::{
    any::Any,
    cell::Cell,
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

/// A pass or pipeline option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name in the textual pipeline.
    pub name: &'static str,
    /// One sentence for `--help`.
    pub description: &'static str,
    /// Its default, as text.
    pub default: &'static str,
}

/// What the library provides to MLIR.
pub trait Hooks: Sync {
    /// Verifies one op of the dialect; the error is a message without the op's name.
    fn verify_op(&self, op: Op) -> Result<(), Located>;
    /// Verifies a discardable attribute on `op` or on one of its entry arguments.
    fn verify_attribute(
        &self,
        op: Op,
        argument: Option<usize>,
        name: &str,
        value: Attr,
    ) -> Result<(), Located>;
    /// Checks a grid expression.
    fn verify_grid(&self, text: &str) -> Result<(), String>;
    /// Checks a text before it is parsed; the error is line, column and message.
    fn check_text(&self, text: &[u8]) -> Result<(), (usize, usize, String)>;
    /// Runs a pass by number; diagnostics have been emitted when it returns `false`.
    fn run_pass(&self, pass: usize, module: Op, options: &[&str]) -> bool;
    /// The textual pass pipeline for these option values.
    fn pipeline(&self, options: &[&str]) -> Result<String, String>;
    /// Writes a lowered module; diagnostics have been emitted when it returns `false`.
    fn emit_module(&self, module: Op, kind: &str, path: &str, options: &[&str]) -> bool;
}

/// A message, with an optional note at another op.
#[derive(Clone, Debug)]
pub struct Located {
    /// What is wrong: "expected X, got Y".
    pub message: String,
    /// Where else to look, and what is to be seen there.
    pub note: Option<(Op, String)>,
}

impl From<String> for Located {
    fn from(message: String) -> Self {
        Self {
            message,
            note: None,
        }
    }
}

impl From<&str> for Located {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

static HOOKS: OnceLock<&'static dyn Hooks> = OnceLock::new();

thread_local! {
    /// Where the panic hook saw the last panic of this thread.
    static PANIC_PLACE: Cell<Option<String>> = const { Cell::new(None) };
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// Where the running pass is at work, for a located internal error.
    static AT_WORK: Cell<Option<Loc>> = const { Cell::new(None) };
}

/// Notes where the running pass is at work.
pub fn at_work(location: Loc) {
    AT_WORK.set(Some(location));
}

pub(crate) fn install(hooks: &'static dyn Hooks) {
    if HOOKS.set(hooks).is_err() {
        return;
    }
    // A caught panic is reported as a diagnostic; the default hook would print it as well.
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if CATCHING.get() > 0 {
            PANIC_PLACE.set(
                info.location()
                    .map(|place| format!("{}:{}", place.file(), place.line())),
            );
        } else {
            previous(info);
        }
    }));
    let table = ffi::ApHooks {
        verify_op,
        verify_attribute,
        verify_grid,
        check_text,
        run_pass,
        pipeline,
        emit_module,
    };
    // SAFETY: the shim copies the table.
    unsafe { ffi::apSetHooks(&table) };
}

/// Runs `body`; a panic becomes the error text of an internal error.
pub fn guarded<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    CATCHING.set(CATCHING.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(body));
    CATCHING.set(CATCHING.get() - 1);
    result.map_err(|payload| {
        let place = PANIC_PLACE
            .take()
            .unwrap_or_else(|| "unknown place".to_owned());
        format!(
            "internal error: {} ({place}); this is a bug in async-pipeline, please report it",
            panic_text(payload.as_ref())
        )
    })
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("panic")
}

fn hooks() -> &'static dyn Hooks {
    *HOOKS
        .get()
        .expect("hooks are installed before the dialect is loaded")
}

fn report(op: Op, result: Result<Result<(), Located>, String>) -> bool {
    match result {
        Ok(Ok(())) => true,
        Ok(Err(Located { message, note })) => {
            let text = format!("'{}' op {message}", op.name());
            emit_error(
                op.location(),
                &text,
                note.map(|(op, text)| (op.location(), text)),
            );
            false
        }
        Err(message) => {
            emit_error(op.location(), &message, None);
            false
        }
    }
}

extern "C" fn verify_op(op: MlirOperation) -> bool {
    let op = Op::from_raw(op);
    report(op, guarded(|| hooks().verify_op(op)))
}

extern "C" fn verify_attribute(
    op: MlirOperation,
    argument: isize,
    name: MlirStringRef,
    value: MlirAttribute,
) -> bool {
    let op = Op::from_raw(op);
    report(
        op,
        guarded(|| {
            hooks().verify_attribute(
                op,
                usize::try_from(argument).ok(),
                borrow_str(name),
                Attr::from_raw(value),
            )
        }),
    )
}

extern "C" fn verify_grid(text: MlirStringRef, sink: TextSink, context: *mut c_void) -> bool {
    let result = guarded(|| hooks().verify_grid(borrow_str(text)));
    match result.and_then(|inner| inner) {
        Ok(()) => true,
        Err(message) => {
            sink(string_ref(&message), context);
            false
        }
    }
}

extern "C" fn check_text(
    text: MlirStringRef,
    line: *mut usize,
    column: *mut usize,
    sink: TextSink,
    context: *mut c_void,
) -> bool {
    let result = guarded(|| hooks().check_text(borrow_bytes(text)));
    let (at_line, at_column, message) = match result {
        Ok(Ok(())) => return true,
        Ok(Err(place)) => place,
        Err(message) => (1, 1, message),
    };
    // SAFETY: C++ hands over two live counters.
    unsafe {
        *line = at_line;
        *column = at_column;
    }
    sink(string_ref(&message), context);
    false
}

fn texts<'a>(options: *const MlirStringRef, count: usize) -> Vec<&'a str> {
    (0..count)
        // SAFETY: C++ hands over `count` strings that live for the call.
        .map(|index| borrow_str(unsafe { *options.add(index) }))
        .collect()
}

extern "C" fn run_pass(
    pass: usize,
    module: MlirOperation,
    options: *const MlirStringRef,
    count: usize,
) -> bool {
    let module = Op::from_raw(module);
    AT_WORK.set(None);
    match guarded(|| hooks().run_pass(pass, module, &texts(options, count))) {
        Ok(ok) => ok,
        Err(message) => {
            // Locations live as long as the context, also when their op is gone.
            let location = AT_WORK.take().unwrap_or_else(|| module.location());
            emit_error(location, &message, None);
            false
        }
    }
}

extern "C" fn pipeline(
    options: *const MlirStringRef,
    count: usize,
    error: TextSink,
    sink: TextSink,
    context: *mut c_void,
) -> bool {
    match guarded(|| hooks().pipeline(&texts(options, count))).and_then(|inner| inner) {
        Ok(text) => {
            sink(string_ref(&text), context);
            true
        }
        Err(message) => {
            error(string_ref(&message), context);
            false
        }
    }
}

extern "C" fn emit_module(
    module: MlirOperation,
    kind: MlirStringRef,
    path: MlirStringRef,
    options: *const MlirStringRef,
    count: usize,
) -> bool {
    let module = Op::from_raw(module);
    let result = guarded(|| {
        hooks().emit_module(
            module,
            borrow_str(kind),
            borrow_str(path),
            &texts(options, count),
        )
    });
    match result {
        Ok(ok) => ok,
        Err(message) => {
            emit_error(module.location(), &message, None);
            false
        }
    }
}
