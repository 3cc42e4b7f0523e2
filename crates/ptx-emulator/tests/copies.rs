//! Bulk and tensor copies: what they move, what they wait for, what must stand between them and
//! other accesses.

mod support;

use std::sync::Arc;

use ptx_emulator::{
    Emulator, Kind, Launch, Options, Outcome, Program, Schedule,
    syntax::parse,
    tensor_map::{Fill, MapElement, Swizzle, TensorMap},
};
use support::{has, numbered, schedules, show};

/// Words of the input tensor, of the output, and of shared memory.
const WORDS: usize = 1024;

/// A kernel of one thread with a tensor map, an input and an output of 1024 words. `%m` is the
/// map's generic address; `buf` is 4 KiB of shared memory, `bar` an mbarrier for one arrival.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out)\n{{\n\
         .reg .b64 %in; .reg .b64 %out; .reg .b64 %m; .reg .b32 %r<9>; .reg .pred %p<9>;\n\
         .shared .align 1024 .b8 buf[4096]; .shared .align 8 .b64 bar;\n\
         ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\ncvta.param.u64 %m, map;\n\
         mbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n\
         {body}\nret;\n}}\n"
    )
}

/// Waits for phase 0 of `bar`, for which `bytes` are expected.
fn wait(bytes: u32) -> String {
    format!(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {bytes};\n\
         L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra L;"
    )
}

/// Copies shared memory to the output and waits for that.
const DUMP: &str = "cp.async.bulk.global.shared::cta.bulk_group [%out], [buf], 4096; // dump\n\
     cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";

/// Fills shared memory with zeros by a copy of the output, which is zeroed.
const CLEAR: &str = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4096;\n\
     cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%out], 4096, [bar];";

fn run(ptx: &str, map: &TensorMap, schedule: Schedule) -> (Outcome, Vec<u32>) {
    run_cluster(1, ptx, map, schedule)
}

/// Runs one cluster of so many CTAs. Input words count from 0.
fn run_cluster(ctas: u32, ptx: &str, map: &TensorMap, schedule: Schedule) -> (Outcome, Vec<u32>) {
    let module = parse(ptx).unwrap_or_else(|error| panic!("{error}\n{}", numbered(ptx)));
    let program = Program::new(&module, &module.entries[0])
        .unwrap_or_else(|error| panic!("{error}\n{}", numbered(ptx)));
    let mut emulator = Emulator::new(Arc::new(program)).expect("fits");
    let memory = emulator.memory_mut();
    let input = memory.allocate(4 * WORDS as u64, "in").expect("fits");
    let output = memory.allocate(4 * WORDS as u64, "out").expect("fits");
    let words: Vec<u8> = (0..WORDS as u32).flat_map(u32::to_le_bytes).collect();
    memory.write(input, &words).expect("fits");
    let mut map = map.clone();
    // Maps are made for address 0 (input) or 1 << 20 (output).
    map.address = if map.address == 0 { input } else { output };
    let launch = Launch {
        grid: [ctas, 1, 1],
        block: [1; 3],
        cluster: [ctas, 1, 1],
        dynamic_shared_bytes: 0,
        parameters: vec![
            map.encode().to_vec(),
            input.to_le_bytes().to_vec(),
            output.to_le_bytes().to_vec(),
        ],
    };
    let options = Options {
        schedule,
        max_steps: 100_000,
        livelock_steps: 10_000,
        ..Options::default()
    };
    let outcome = emulator.run(&launch, &options).expect("launches");
    let bytes = emulator.memory().bytes_from(output);
    let words = bytes.chunks_exact(4);
    (
        outcome,
        words
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect(),
    )
}

/// Runs cleanly under all schedules and gives the same words under each.
fn clean(ptx: &str, map: &TensorMap) -> Vec<u32> {
    let mut result = None;
    for schedule in schedules() {
        let (outcome, words) = run(ptx, map, schedule);
        let text = show(&outcome.reports);
        assert!(
            outcome.is_clean(),
            "{schedule:?}: {text}\n{}",
            numbered(ptx)
        );
        assert!(result.is_none_or(|other| other == words), "{schedule:?}");
        result = Some(words);
    }
    result.expect("there are schedules")
}

/// Every schedule reports this class at a line that contains `at`.
fn reported(ptx: &str, map: &TensorMap, kind: Kind, at: &str) {
    for schedule in schedules() {
        let (outcome, _) = run(ptx, map, schedule);
        let text = show(&outcome.reports);
        assert!(
            has(&outcome.reports, ptx, kind, at),
            "{schedule:?}: no {kind:?} at `{at}` in: {text}\n{}",
            numbered(ptx)
        );
    }
}

/// 32 x 32 words with a box of `columns` x 8.
fn map(address: u64, columns: u32) -> TensorMap {
    TensorMap::tiled(MapElement::U32, address, &[32, 32], &[128], &[columns, 8]).expect("fits")
}

const LOAD: &str = "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes \
     [buf], [%m, {24, 28}], [bar]; // load";

#[test]
fn a_tensor_load_swizzles_and_fills() {
    let mut map = map(0, 32);
    map.swizzle = Swizzle::B128;
    let ptx = kernel(&format!(
        "{LOAD}\n{}\n{}",
        wait(1024),
        DUMP.replace("4096", "1024")
    ));
    let words = clean(&ptx, &map);
    for (y, x) in (0..8).flat_map(|y| (0..32).map(move |x| (y, x))) {
        let inside = 24 + x < 32 && 28 + y < 32;
        let expected = if inside { (28 + y) * 32 + 24 + x } else { 0 };
        let byte = (y * 128 + x * 4) ^ (y & 7) << 4;
        assert_eq!(words[byte as usize / 4], expected, "row {y}, column {x}");
    }
}

#[test]
fn nan_fill_reaches_shared_memory() {
    let mut map = map(0, 32);
    (map.element, map.fill) = (MapElement::F32, Fill::Nan);
    let ptx = kernel(&format!(
        "{LOAD}\n{}\n{}",
        wait(1024),
        DUMP.replace("4096", "1024")
    ));
    let words = clean(&ptx, &map);
    assert_eq!(
        (words[0], words[7], words[8]),
        (28 * 32 + 24, 28 * 32 + 31, 0x7ff7_7ff7)
    );
}

#[test]
fn every_byte_of_the_box_counts_and_no_other() {
    for bytes in [1008, 1040] {
        let ptx = kernel(&format!("{LOAD}\n{}", wait(bytes)));
        for schedule in schedules() {
            let (outcome, _) = run(&ptx, &map(0, 32), schedule);
            assert!(!outcome.is_clean(), "{bytes} bytes under {schedule:?}");
        }
    }
}

#[test]
fn data_must_not_be_used_before_the_wait() {
    let ptx = kernel(&format!(
        "{LOAD}\n{}\n{}",
        DUMP.replace("4096", "1024"),
        wait(1024)
    ));
    reported(&ptx, &map(0, 32), Kind::ReadBeforeComplete, "dump");
}

#[test]
fn a_tensor_store_clips_and_arrives() {
    let map = map(1 << 20, 32);
    let store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m, {16, 30}], [buf];\n\
                 cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
    let fetch =
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%in], 1024, [bar];";
    let words = clean(&kernel(&format!("{fetch}\n{}\n{store}", wait(1024))), &map);
    let mut expected = vec![0; WORDS];
    for (y, x) in (0..2).flat_map(|y| (0..16).map(move |x| (y, x))) {
        expected[(30 + y) * 32 + 16 + x] = (y * 32 + x) as u32;
    }
    assert_eq!(words, expected);
}

#[test]
fn reductions_change_what_is_there() {
    let map = map(1 << 20, 32);
    let fetch =
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%in], 1024, [bar];";
    let reduce = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%m, {0, 0}], [buf];\n\
                  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [buf], 512;\n\
                  cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b32 [%out+2048], [buf], 16;\n\
                  cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;";
    let words = clean(&kernel(&format!("{fetch}\n{}\n{reduce}", wait(1024))), &map);
    let expected = |n: usize| match n {
        0..128 => 2 * n as u32,
        128..256 => n as u32,
        512..516 => n as u32 - 512,
        _ => 0,
    };
    assert!(
        words
            .iter()
            .enumerate()
            .all(|(n, word)| *word == expected(n))
    );
}

const WRITE: &str = "st.shared.v2.b64 [buf], {1, 2};";
const STORE: &str = "cp.async.bulk.global.shared::cta.bulk_group [%out], [buf], 16; // store\n\
     cp.async.bulk.commit_group;";

#[test]
fn ordinary_writes_need_a_proxy_fence_before_a_store() {
    let map = map(0, 32);
    let end = "cp.async.bulk.wait_group.read 0;";
    let bad = kernel(&format!("{WRITE}\n{STORE}\n{end}"));
    reported(&bad, &map, Kind::MissingProxyFence, "store");
    let good = kernel(&format!(
        "{WRITE}\nfence.proxy.async.shared::cta;\n{STORE}\n{end}"
    ));
    assert_eq!(clean(&good, &map)[..4], [1, 0, 2, 0]);
}

#[test]
fn a_source_is_free_after_its_group_was_read() {
    let map = map(0, 32);
    let body = |wait: &str| {
        kernel(&format!(
            "{WRITE}\nfence.proxy.async.shared::cta;\n{STORE}\n{wait}\n\
             st.shared.b32 [buf], 9; // again\ncp.async.bulk.wait_group 0;"
        ))
    };
    assert_eq!(clean(&body("cp.async.bulk.wait_group.read 0;"), &map)[0], 1);
    assert_eq!(clean(&body("cp.async.bulk.wait_group 0;"), &map)[0], 1);
    reported(
        &body("cp.async.bulk.wait_group.read 1;"),
        &map,
        Kind::OverwriteWhileRead,
        "again",
    );
    reported(&body(""), &map, Kind::OverwriteWhileRead, "again");
    // Groups that were committed later may be left, this one may not.
    let later = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;";
    assert_eq!(clean(&body(later), &map)[0], 1);
}

#[test]
fn written_memory_is_known_after_the_whole_wait_only() {
    let map = map(0, 32);
    let body = |wait: &str| {
        kernel(&format!(
            "{WRITE}\nfence.proxy.async.shared::cta;\n{STORE}\n{wait}\n\
             ld.global.b32 %r1, [%out]; // look\nst.global.b32 [%out+64], %r1;"
        ))
    };
    assert_eq!(clean(&body("cp.async.bulk.wait_group 0;"), &map)[16], 1);
    let early = body("cp.async.bulk.wait_group.read 0;");
    reported(&early, &map, Kind::ReadBeforeComplete, "look");
}

#[test]
fn threads_that_end_too_early_are_mentioned() {
    let ptx = kernel(&format!("{WRITE}\nfence.proxy.async.shared::cta;\n{STORE}"));
    reported(&ptx, &map(0, 32), Kind::ExitWithWork, "ret");
    let (_, words) = run(&ptx, &map(0, 32), Schedule::RoundRobin);
    assert_eq!(words[..4], [1, 0, 2, 0], "the data arrive all the same");
}

#[test]
fn faults_are_found_where_they_are_issued() {
    let plain = |operands: &str| {
        let copy = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes";
        kernel(&format!("{copy} {operands}; // copy"))
    };
    let tensor = |operands: &str| {
        let copy = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes";
        kernel(&format!("{copy} {operands}; // copy"))
    };
    let store = |coordinates: &str| {
        let copy = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";
        kernel(&format!("{copy} [%m, {{{coordinates}}}], [buf]; // copy"))
    };
    let cases = [
        (plain("[buf], [%in], 24, [bar]"), Kind::Misaligned),
        (plain("[buf+8], [%in], 16, [bar]"), Kind::Misaligned),
        (plain("[buf], [%in+4], 16, [bar]"), Kind::Misaligned),
        (plain("[buf], [%in+4000], 128, [bar]"), Kind::OutOfBounds),
        (plain("[buf], [%in], 65536, [bar]"), Kind::OutOfBounds),
        (plain("[buf], [%in], 16, [buf]"), Kind::MbarrierContract),
        (plain("[buf+16777216], [%in], 16, [bar]"), Kind::OutOfBounds),
        (tensor("[buf+64], [%m, {0, 0}], [bar]"), Kind::Misaligned),
        (tensor("[buf], [%m, {1, 0}], [bar]"), Kind::Misaligned),
        (tensor("[buf], [%m+64, {0, 0}], [bar]"), Kind::OutOfBounds),
        (tensor("[buf], [%in, {0, 0}], [bar]"), Kind::InvalidOperand),
        (tensor("[buf+4608], [%m, {0, 0}], [bar]"), Kind::OutOfBounds),
        (store("-4, 0"), Kind::InvalidOperand),
        (store("0, -1"), Kind::InvalidOperand),
        (store("0, 0"), Kind::UninitialisedRead),
    ];
    for (ptx, kind) in cases {
        reported(&ptx, &map(0, 32), kind, "copy");
    }
    let mut bad = map(0, 32);
    bad.box_sizes[0] = 3;
    reported(
        &tensor("[buf], [%m, {0, 0}], [bar]"),
        &bad,
        Kind::InvalidOperand,
        "copy",
    );
}

#[test]
fn a_copy_over_a_barrier_is_reported() {
    let ptx = kernel(&format!(
        "{}\n{}",
        CLEAR.replace("[buf]", "[buf+16]"),
        wait(0)
    ));
    reported(&ptx, &map(0, 32), Kind::MbarrierContract, "cp.async.bulk");
}

#[test]
fn unknown_forms_are_refused_by_name() {
    let refused = |statement: &str, expected: &str| {
        let ptx = kernel(statement);
        let module = parse(&ptx).expect("is PTX");
        let error = Program::new(&module, &module.entries[0]).expect_err(statement);
        assert!(error.message.contains(expected), "{}", error.message);
    };
    let load = "cp.async.bulk.tensor.3d.shared::cluster.global";
    let operands = "[buf], [%m, {0, 0, 0}], [bar]";
    refused(
        &format!("{load}.im2col.mbarrier::complete_tx::bytes {operands};"),
        ".im2col is not supported, only .tile",
    );
    refused(
        &format!("{load}.mbarrier::complete_tx::bytes.noftz {operands};"),
        ".noftz is not supported here",
    );
    refused(
        "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [buf], [%m, {0}], [bar];",
        "needs 2 coordinates, got 1",
    );
    refused(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%out], [buf], 16;",
        "no such operation",
    );
    refused(
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out], [buf], 16, 3;",
        "cp_mask",
    );
}

#[test]
fn prefetches_check_their_addresses() {
    let good = "cp.async.bulk.prefetch.L2.global [%in], 4096;\nprefetch.tensormap [%m];\n\
                cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%m, {0, 0}];";
    clean(&kernel(good), &map(0, 32));
    let bad = kernel("cp.async.bulk.prefetch.L2.global [%in], 4112; // fetch");
    reported(&bad, &map(0, 32), Kind::OutOfBounds, "fetch");
}

#[test]
fn device_made_maps_work_once_they_are_complete() {
    let zero: String = (0..8)
        .map(|n| format!("st.shared.v2.b64 [buf+{}], {{0, 0}};\n", n * 16))
        .collect();
    let replace = |skip: &str| {
        let fields = [
            "global_address.shared::cta.b1024.b64 [buf], %in",
            "rank.shared::cta.b1024.b32 [buf], 1",
            "box_dim.shared::cta.b1024.b32 [buf], 0, 32",
            "box_dim.shared::cta.b1024.b32 [buf], 1, 2",
            "global_dim.shared::cta.b1024.b32 [buf], 0, 32",
            "global_dim.shared::cta.b1024.b32 [buf], 1, 32",
            "global_stride.shared::cta.b1024.b64 [buf], 0, 128",
            "element_stride.shared::cta.b1024.b32 [buf], 0, 1",
            "element_stride.shared::cta.b1024.b32 [buf], 1, 1",
            "elemtype.shared::cta.b1024.b32 [buf], 2",
            "swizzle_mode.shared::cta.b1024.b32 [buf], 3",
        ];
        let kept = fields
            .iter()
            .filter(|field| skip.is_empty() || !field.starts_with(skip));
        kept.map(|field| format!("tensormap.replace.tile.{field};\n"))
            .collect::<String>()
    };
    let body = |skip: &str| {
        kernel(&format!(
            "{zero}{}\
             tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%out+2048], [buf], 128;\n\
             fence.proxy.tensormap::generic.acquire.gpu [%out+2048], 128;\n\
             cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [buf+1024], [%out+2048, {{0, 4}}], [bar]; // load\n\
             {}\n\
             cp.async.bulk.global.shared::cta.bulk_group [%out], [buf+1024], 256;\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
            replace(skip),
            wait(256)
        ))
    };
    let words = clean(&body(""), &map(0, 32));
    assert_eq!(words[0], 128);
    // The second row is swizzled: its first 16 bytes come second.
    assert_eq!((words[32], words[36]), (164, 160));
    reported(&body("elemtype"), &map(0, 32), Kind::InvalidOperand, "load");
}

#[test]
fn a_pair_of_ctas_counts_on_the_even_ones_barrier() {
    let body = |group: &str| {
        let load = format!(
            "mov.u32 %r1, %cluster_ctarank;
             setp.eq.u32 %p2, %r1, 0;
             mul.lo.u32 %r2, %r1, 8;
             mul.wide.u32 %m2, %r1, 1024;
             add.u64 %out, %out, %m2;
             mov.u32 %r3, bar;
             and.b32 %r3, %r3, 0xfeffffff;
             mov.u32 %r4, buf;
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
             cp.async.bulk.tensor.2d{group}.shared::cluster.global.mbarrier::complete_tx::bytes \
               [%r4], [%m, {{0, %r2}}], [%r3]; // load
             @!%p2 bra JOIN;
             {}
             JOIN:
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
             {}
             barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
            wait(2048),
            DUMP.replace("4096", "1024"),
        );
        kernel(&load)
            .replace("sm_90a", "sm_100a")
            .replace(".reg .b64 %m;", ".reg .b64 %m; .reg .b64 %m2;")
    };
    let ptx = body(".cta_group::2");
    for schedule in schedules() {
        let (outcome, words) = run_cluster(2, &ptx, &map(0, 32), schedule);
        let text = show(&outcome.reports);
        assert!(
            outcome.is_clean(),
            "{schedule:?}: {text}\n{}",
            numbered(&ptx)
        );
        assert!(
            words[..512]
                .iter()
                .enumerate()
                .all(|(n, word)| *word == n as u32)
        );
        // Without pairs the barrier has to be the destination's.
        let alone = body("");
        let (outcome, _) = run_cluster(2, &alone, &map(0, 32), schedule);
        assert!(has(&outcome.reports, &alone, Kind::InvalidOperand, "load"));
    }
}

#[test]
fn a_tensor_multicast_fills_all_ctas_of_the_mask() {
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank;
         setp.eq.u32 %p2, %r1, 1;
         mul.wide.u32 %m2, %r1, 1024;
         add.u64 %out, %out, %m2;
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
         @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes\
           .multicast::cluster.L2::cache_hint [buf], [%m, {{0, 16}}], [bar], 3, %m2;
         {}
         {}
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        wait(1024),
        DUMP.replace("4096", "1024"),
    );
    let ptx = kernel(&body).replace(".reg .b64 %m;", ".reg .b64 %m; .reg .b64 %m2;");
    for schedule in schedules() {
        let (outcome, words) = run_cluster(2, &ptx, &map(0, 32), schedule);
        let text = show(&outcome.reports);
        assert!(
            outcome.is_clean(),
            "{schedule:?}: {text}\n{}",
            numbered(&ptx)
        );
        assert!(
            words[..512]
                .iter()
                .enumerate()
                .all(|(n, word)| *word == 512 + n as u32 % 256)
        );
    }
}
