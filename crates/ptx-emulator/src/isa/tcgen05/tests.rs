//! Whole kernels with tensor memory. No Blackwell GPU was at hand: results are compared with plain
//! products of small integers, which are exact in every format, and layouts are restated here.

mod faults;
mod layouts;
mod pairs;
mod products;

use std::{fmt::Write as _, sync::Arc};

use crate::{Emulator, Launch, Options, Outcome, Program, Schedule};

/// Every schedule that these tests run under.
const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Late(1),
    Schedule::Early(2),
    Schedule::Random(3),
];

/// A kernel of 128 threads that fills shared memory from its input, allocates tensor memory, does
/// its body, stores `%v0…` of every thread to its output and frees the memory again.
///
/// `%t` is the thread, `%s` shared memory (aligned to 1024), `%bar` four mbarriers of count 1,
/// `%taddr` the allocation, `%q` the same with the warp's lanes, `%one` thread 0, `%w0` warp 0.
#[derive(Debug, Clone)]
struct Kernel {
    /// Bytes of shared memory of each CTA.
    image: usize,
    columns: u32,
    /// CTAs of the cluster: 1 or 2.
    ctas: u32,
    /// Registers stored at the end.
    outputs: usize,
    body: String,
    /// In place of the usual end, which waits for everybody and frees the memory.
    end: Option<String>,
}

impl Kernel {
    fn new(body: impl Into<String>) -> Self {
        Self {
            image: 16384,
            columns: 128,
            ctas: 1,
            outputs: 0,
            body: body.into(),
            end: None,
        }
    }

    fn text(&self) -> String {
        let (image, columns, group, outputs) = (self.image, self.columns, self.ctas, self.outputs);
        let pair = group == 2;
        let cluster_sync = if pair {
            "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"
        } else {
            ""
        };
        let mut text = format!(
            ".version 8.7\n.target sm_100a\n.address_size 64\n\
             .visible .entry k(.param .u64 input, .param .u64 output)\n{{\n\
             .shared .align 1024 .b8 buffer[{image}];\n.shared .align 8 .b8 bars[32];\n\
             .shared .align 4 .b8 slot[4];\n\
             .reg .pred %p<8>, %one, %w0;\n.reg .b64 %in, %out, %off, %y<16>;\n\
             .reg .b32 %t, %g, %s, %bar, %taddr, %q, %rank, %x<16>, %v<256>;\n.reg .b16 %h<4>;\n\
             ld.param.u64 %in, [input];\nld.param.u64 %out, [output];\n\
             mov.u32 %t, %tid.x;\nmov.u32 %rank, %cluster_ctarank;\n\
             mov.u32 %s, buffer;\nmov.u32 %bar, bars;\n\
             setp.eq.u32 %one, %t, 0;\nsetp.lt.u32 %w0, %t, 32;\n\
             mad.lo.u32 %g, %rank, 128, %t;\n"
        );
        // Each thread copies 16 bytes at a time.
        let _ = write!(
            text,
            "mul.wide.u32 %off, %rank, {image};\nadd.s64 %in, %in, %off;\n\
             mul.wide.u32 %off, %t, 16;\nadd.s64 %in, %in, %off;\nshl.b32 %x0, %t, 4;\n\
             add.u32 %x0, %x0, %s;\n"
        );
        for part in (0..image).step_by(2048) {
            let _ = write!(
                text,
                "ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%in+{part}];\n\
                 st.shared.v4.b32 [%x0+{part}], {{%v0, %v1, %v2, %v3}};\n"
            );
        }
        for bar in 0..4 {
            let _ = writeln!(
                text,
                "@%one mbarrier.init.shared.b64 [%bar+{}], 1;",
                8 * bar
            );
        }
        let _ = write!(
            text,
            "@%one fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;\n{cluster_sync}\n\
             @%w0 tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [slot], {columns};\n\
             bar.sync 0;\nld.shared.b32 %taddr, [slot];\n\
             and.b32 %q, %t, 96;\nshl.b32 %q, %q, 16;\nadd.u32 %q, %q, %taddr;\n\
             {}\n",
            self.body
        );
        let _ = write!(
            text,
            "mul.wide.u32 %off, %g, {};\nadd.s64 %out, %out, %off;\n",
            4 * outputs
        );
        for index in 0..outputs {
            let _ = writeln!(text, "st.global.b32 [%out+{}], %v{index};", 4 * index);
        }
        match &self.end {
            Some(end) => text.push_str(end),
            None => {
                let _ = write!(
                    text,
                    "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n{cluster_sync}\n\
                     @%w0 tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %taddr, {columns};\n"
                );
            }
        }
        text.push_str("ret;\n}\n");
        text
    }

    /// Runs it; `image` fills the shared memory of each CTA, one after the other. The words are
    /// those of thread 0, then of thread 1, ….
    fn run(&self, image: &[u8], options: Options) -> (Outcome, Vec<u32>) {
        let text = self.text();
        let module = crate::syntax::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let program = Program::new(&module, &module.entries[0]);
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        let mut emulator = Emulator::new(Arc::new(program)).expect("memory");
        let memory = emulator.memory_mut();
        let bytes = self.image * self.ctas as usize;
        let source = memory.allocate(bytes as u64, "input").expect("memory");
        memory.write(source, image).expect("the image fits");
        let len = 4 * self.outputs * 128 * self.ctas as usize;
        let target = memory
            .allocate(len.max(4) as u64, "output")
            .expect("memory");
        let launch = Launch {
            grid: [self.ctas, 1, 1],
            block: [128, 1, 1],
            cluster: [self.ctas, 1, 1],
            dynamic_shared_bytes: 0,
            parameters: [source, target]
                .map(|address| address.to_le_bytes().to_vec())
                .into(),
        };
        let outcome = emulator.run(&launch, &options).expect("the launch fits");
        let mut bytes = vec![0; len];
        emulator.memory().read(target, &mut bytes).expect("output");
        let (words, _) = bytes.as_chunks::<4>();
        (
            outcome,
            words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
        )
    }

    /// Runs it under every schedule, with nothing to report, not even in strict mode.
    fn run_clean(&self, image: &[u8]) -> Vec<u32> {
        let mut last = Vec::new();
        for schedule in SCHEDULES {
            let options = Options {
                schedule,
                strict: true,
                ..Options::default()
            };
            let (outcome, words) = self.run(image, options);
            let reports: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
            let text = self.text();
            assert!(
                outcome.completed && reports.is_empty(),
                "{schedule:?}\n{}\n{text}",
                reports.join("\n")
            );
            assert!(
                last.is_empty() || last == words,
                "{schedule:?} gives other results"
            );
            last = words;
        }
        last
    }
}

/// Waits for a phase of barrier `index`.
fn wait(index: u32, parity: u32) -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let label = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!(
        "W{label}:\nmbarrier.try_wait.parity.shared.b64 %p7, [%bar+{}], {parity};\n@!%p7 bra W{label};\n",
        8 * index
    )
}

/// `{%v0, …}`.
fn registers(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|index| format!("%v{index}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// Thread 0 issues instructions and commits them to barrier 0; everybody waits for that.
fn issue(instructions: &str) -> String {
    let guarded: String = instructions
        .lines()
        .map(|line| format!("@%one {line}\n"))
        .collect();
    format!(
        "{guarded}@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];\n\
         {}tcgen05.fence::after_thread_sync;\n",
        wait(0, 0)
    )
}

/// A shared-memory descriptor at offset `offset` of the buffer in register `%y<index>`.
fn descriptor(index: u32, offset: u32, leading: u32, stride: u32, swizzle: u64) -> String {
    let fixed =
        swizzle << 61 | 1 << 46 | u64::from(stride >> 4) << 32 | u64::from(leading >> 4) << 16;
    format!(
        "add.u32 %x15, %s, {offset};\nshr.u32 %x15, %x15, 4;\ncvt.u64.u32 %y{index}, %x15;\n\
         or.b64 %y{index}, %y{index}, {fixed};\n"
    )
}

/// What decoding a body says.
fn refusal(body: &str) -> String {
    let text = Kernel::new(body).text();
    let module = crate::syntax::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    match Program::new(&module, &module.entries[0]) {
        Ok(_) => panic!("{body} is accepted"),
        Err(error) => error.message,
    }
}
