//! Small kernels, each about one instruction. Every thread reads its own words of the input and
//! writes its own words of the output.

use std::fmt::Write;

/// A kernel with its input.
pub(crate) struct Probe {
    pub(crate) name: String,
    pub(crate) ptx: String,
    pub(crate) grid: u32,
    pub(crate) block: u32,
    pub(crate) input: Vec<u8>,
    /// Words that each thread reads and writes.
    reads: usize,
    writes: usize,
    /// Units in the last place that an f32 result may be off; 0 for equal bits.
    pub(crate) ulps: u32,
}

impl Probe {
    pub(crate) fn output_bytes(&self) -> usize {
        self.writes * 4 * (self.grid * self.block) as usize
    }

    /// The input words of the thread that wrote an output word.
    pub(crate) fn input_of(&self, word: usize) -> String {
        let thread = word / self.writes.max(1);
        let start = thread * self.reads * 4;
        let words = self.input[start..start + self.reads * 4].chunks_exact(4);
        let list = words.map(|w| format!("{:08x}", u32::from_le_bytes(w.try_into().expect("4"))));
        list.collect::<Vec<_>>().join(" ")
    }
}

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// How the words of an input are made.
#[derive(Clone, Copy)]
enum Fill {
    /// Any bits.
    Bits,
    /// f32 of all sizes, with special values among them.
    Floats,
    /// Pairs of 16-bit floats with exponents near one another (exponent bits, mantissa bits).
    Halves(u32, u32),
    /// f32 with exponents near one another.
    Near,
    /// Bytes that are 8-bit floats without NaN.
    Bytes,
}

const SPECIAL: [u32; 24] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc1_2345,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x477f_e000,
    0x477f_f000,
    0x3f80_1000,
    0x3f80_3000,
    0x43e0_0000,
    0x43e8_0000,
    0x4b00_0001,
    0x3380_0000,
    0x3a80_0000,
    0x4f00_0000,
];

fn word(fill: Fill, random: &mut Random) -> u32 {
    let bits = random.next();
    match fill {
        Fill::Bits => bits as u32,
        Fill::Floats if bits >> 60 == 0 => SPECIAL[(bits >> 32) as usize % SPECIAL.len()],
        // Around one, where conversions to narrow types have most to do, half of the time.
        Fill::Floats if bits >> 63 == 1 => {
            let exponent = 100 + (bits >> 32 & 63) as u32;
            bits as u32 & 0x807f_ffff | exponent << 23
        }
        Fill::Floats => bits as u32,
        Fill::Halves(exponent_bits, mantissa_bits) => {
            let half = |bits: u32| {
                let bias = (1 << (exponent_bits - 1)) - 1;
                let exponent = bias - 7 + (bits >> 20 & 15);
                let mantissa = bits & ((1 << mantissa_bits) - 1);
                (bits >> 31) << 15 | exponent << mantissa_bits | mantissa
            };
            half(bits as u32) | half((bits >> 32) as u32) << 16
        }
        Fill::Near => {
            let exponent = 120 + (bits >> 32 & 15) as u32;
            bits as u32 & 0x807f_ffff | exponent << 23
        }
        Fill::Bytes => {
            let byte = |n: u32| {
                let value = (bits >> (8 * n)) as u32 & 0xff;
                if value & 0x78 == 0x78 {
                    value & 0xb7
                } else {
                    value
                }
            };
            byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
        }
    }
}

/// A probe whose threads read words into `%i0…` and write `%o0…`; `body` goes between.
#[allow(clippy::too_many_arguments)]
fn probe(
    name: &str,
    block: u32,
    grid: u32,
    fills: &[Fill],
    writes: usize,
    declarations: &str,
    body: &str,
    ulps: u32,
) -> Probe {
    let reads = fills.len();
    let mut ptx = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n\
         .visible .entry probe(.param .u64 in, .param .u64 out)\n.maxntid {block}\n{{\n\
         .reg .b32 %i<{}>; .reg .b32 %o<{}>; .reg .b32 %t<8>; .reg .b64 %a<4>; .reg .pred %p<4>;\n\
         .reg .b16 %h<8>; .reg .b64 %w<8>;\n{declarations}\n\
         ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\n\
         mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmad.lo.u32 %t2, %t1, {block}, %t0;\n\
         mad.wide.u32 %a0, %t2, {}, %a0;\nmad.wide.u32 %a1, %t2, {}, %a1;\n",
        reads + 1,
        writes + 1,
        reads * 4,
        writes * 4,
    );
    for index in 0..reads {
        let _ = writeln!(ptx, "ld.global.b32 %i{index}, [%a0+{}];", index * 4);
    }
    let _ = writeln!(ptx, "{body}");
    for index in 0..writes {
        let _ = writeln!(ptx, "st.global.b32 [%a1+{}], %o{index};", index * 4);
    }
    ptx.push_str("ret;\n}\n");
    let seed = name
        .bytes()
        .fold(17u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b)));
    let mut random = Random(seed);
    let mut input = Vec::new();
    for _ in 0..grid * block {
        for fill in fills {
            input.extend(word(*fill, &mut random).to_le_bytes());
        }
    }
    Probe {
        name: name.to_owned(),
        ptx,
        grid,
        block,
        input,
        reads,
        writes,
        ulps,
    }
}

fn list(prefix: &str, range: std::ops::Range<usize>) -> String {
    let names: Vec<String> = range.map(|n| format!("%{prefix}{n}")).collect();
    format!("{{{}}}", names.join(", "))
}

/// `mma.sync` of one form with inputs of one sort.
fn mma(grid: u32, form: &str, counts: [usize; 4], fill: (&str, Fill), acc: Fill) -> Probe {
    let [a, b, c, d] = counts;
    let mut fills = vec![fill.1; a + b];
    fills.extend(vec![acc; c]);
    let body = format!(
        "mma.sync.aligned.{form} {}, {}, {}, {};",
        list("o", 0..d),
        list("i", 0..a),
        list("i", a..a + b),
        list("i", a + b..a + b + c)
    );
    probe(
        &format!("mma.sync.{form} {}", fill.0),
        32,
        grid,
        &fills,
        d,
        "",
        &body,
        0,
    )
}

/// `wgmma.mma_async` with both operands in shared memory, unswizzled.
fn wgmma(grid: u32, form: &str, name: &str, fill: Fill) -> Probe {
    // 64 rows of A and 8 columns of B, 32 bytes of K each: core matrices of 8 rows x 16 bytes,
    // 128 bytes apart along K and 256 along rows.
    let mut fills = vec![fill; 5];
    fills.extend([Fill::Near; 4]);
    let body = format!(
        "shl.b32 %t3, %t0, 4;
         mov.u32 %t4, ta;
         add.u32 %t5, %t4, %t3;
         st.shared.v4.b32 [%t5], {{%i0, %i1, %i2, %i3}};
         setp.lt.u32 %p0, %t0, 64;
         mov.u32 %t6, tb;
         shl.b32 %t3, %t0, 2;
         add.u32 %t5, %t6, %t3;
         @%p0 st.shared.b32 [%t5], %i4;
         fence.proxy.async.shared::cta;
         bar.sync 0;
         and.b32 %t4, %t4, 262143;
         shr.u32 %t4, %t4, 4;
         cvt.u64.u32 %w0, %t4;
         or.b64 %w0, %w0, {descriptor};
         and.b32 %t6, %t6, 262143;
         shr.u32 %t6, %t6, 4;
         cvt.u64.u32 %w1, %t6;
         or.b64 %w1, %w1, {descriptor};
         setp.eq.u32 %p1, 0, 0;
         mov.b32 %o0, %i5; mov.b32 %o1, %i6; mov.b32 %o2, %i7; mov.b32 %o3, %i8;
         wgmma.fence.sync.aligned;
         wgmma.mma_async.sync.aligned.{form} {{%o0, %o1, %o2, %o3}}, %w0, %w1, %p1, 1, 1{transposes};
         wgmma.commit_group.sync.aligned;
         wgmma.wait_group.sync.aligned 0;",
        descriptor = (128u64 >> 4) << 16 | (256u64 >> 4) << 32,
        transposes = if form.ends_with("f16.f16") || form.ends_with("bf16.bf16") { ", 0, 0" } else { "" },
    );
    let declarations = ".shared .align 128 .b8 ta[2048];\n.shared .align 128 .b8 tb[256];";
    probe(
        &format!("wgmma.{form} {name}"),
        128,
        grid,
        &fills,
        4,
        declarations,
        &body,
        0,
    )
}

/// All probes; `scale` blocks for the large ones.
pub(crate) fn all(scale: u32) -> Vec<Probe> {
    let mut list = Vec::new();
    tensor_cores(scale, &mut list);
    conversions(scale, &mut list);
    integers(scale, &mut list);
    floats(scale, &mut list);
    warps(scale, &mut list);
    list
}

fn tensor_cores(scale: u32, list: &mut Vec<Probe>) {
    let half = ("near", Fill::Halves(5, 10));
    let brain = ("near", Fill::Halves(8, 7));
    let bits = ("any bits", Fill::Bits);
    for (fill, acc) in [(half, Fill::Near), (bits, Fill::Floats)] {
        list.push(mma(
            scale,
            "m16n8k16.row.col.f32.f16.f16.f32",
            [4, 2, 4, 4],
            fill,
            acc,
        ));
        list.push(mma(
            scale,
            "m16n8k8.row.col.f32.f16.f16.f32",
            [2, 1, 4, 4],
            fill,
            acc,
        ));
    }
    for (fill, acc) in [(brain, Fill::Near), (bits, Fill::Floats)] {
        list.push(mma(
            scale,
            "m16n8k16.row.col.f32.bf16.bf16.f32",
            [4, 2, 4, 4],
            fill,
            acc,
        ));
    }
    for (fill, acc) in [(("near", Fill::Near), Fill::Near), (bits, Fill::Floats)] {
        list.push(mma(
            scale,
            "m16n8k8.row.col.f32.tf32.tf32.f32",
            [4, 2, 4, 4],
            fill,
            acc,
        ));
        list.push(mma(
            scale,
            "m16n8k4.row.col.f32.tf32.tf32.f32",
            [2, 1, 4, 4],
            fill,
            acc,
        ));
    }
    for (fill, acc) in [(("no NaN", Fill::Bytes), Fill::Near), (bits, Fill::Floats)] {
        for form in ["e4m3.e4m3", "e5m2.e5m2", "e4m3.e5m2"] {
            let form = format!("m16n8k32.row.col.f32.{form}.f32");
            list.push(mma(scale, &form, [4, 2, 4, 4], fill, acc));
        }
    }
    for form in ["s32.s8.s8.s32", "s32.u8.u8.s32", "s32.s8.u8.s32"] {
        let form = format!("m16n8k32.row.col.{form}");
        list.push(mma(scale, &form, [4, 2, 4, 4], bits, Fill::Bits));
    }
    for (form, fill) in [
        ("m64n8k16.f32.f16.f16", half.1),
        ("m64n8k16.f32.bf16.bf16", brain.1),
        ("m64n8k8.f32.tf32.tf32", Fill::Near),
        ("m64n8k32.f32.e4m3.e4m3", Fill::Bytes),
        ("m64n8k32.f32.e5m2.e5m2", Fill::Bytes),
        ("m64n8k32.f32.e4m3.e5m2", Fill::Bytes),
    ] {
        list.push(wgmma(scale, form, "near", fill));
        list.push(wgmma(scale, form, "any bits", Fill::Bits));
    }
}

fn conversions(scale: u32, list: &mut Vec<Probe>) {
    let floats = [Fill::Floats, Fill::Floats];
    // Two f32 into one packed register.
    for form in [
        "cvt.rn.f16x2.f32",
        "cvt.rz.f16x2.f32",
        "cvt.rn.relu.f16x2.f32",
        "cvt.rn.bf16x2.f32",
        "cvt.rz.bf16x2.f32",
        "cvt.rn.relu.bf16x2.f32",
    ] {
        let body = format!("{form} %o0, %i0, %i1;");
        list.push(probe(form, 128, scale, &floats, 1, "", &body, 0));
    }
    for form in [
        "cvt.rn.satfinite.e4m3x2.f32",
        "cvt.rn.satfinite.e5m2x2.f32",
        "cvt.rn.satfinite.relu.e4m3x2.f32",
    ] {
        let body =
            format!("{form} %h0, %i0, %i1; mov.b32 %o0, {{%h0, 0}};").replace(", 0}", ", %h1}");
        let body = format!("mov.b16 %h1, 0; {body}");
        list.push(probe(form, 128, scale, &floats, 1, "", &body, 0));
    }
    for form in [
        "cvt.rn.f16x2.e4m3x2",
        "cvt.rn.f16x2.e5m2x2",
        "cvt.rn.relu.f16x2.e4m3x2",
    ] {
        let body = format!("mov.b32 {{%h0, %h1}}, %i0; {form} %o0, %h0;");
        list.push(probe(form, 128, scale, &[Fill::Bits], 1, "", &body, 0));
    }
    for form in [
        "cvt.rn.satfinite.e4m3x2.f16x2",
        "cvt.rn.satfinite.e5m2x2.f16x2",
    ] {
        let body = format!("mov.b16 %h1, 0; {form} %h0, %i0; mov.b32 %o0, {{%h0, %h1}};");
        list.push(probe(form, 128, scale, &[Fill::Bits], 1, "", &body, 0));
    }
    // f32 to one 32-bit register.
    for form in [
        "cvt.rna.tf32.f32",
        "cvt.rn.tf32.f32",
        "cvt.rz.tf32.f32",
        "cvt.rn.relu.tf32.f32",
        "cvt.rna.satfinite.tf32.f32",
        "cvt.rni.s32.f32",
        "cvt.rzi.s32.f32",
        "cvt.rmi.s32.f32",
        "cvt.rpi.u32.f32",
        "cvt.rni.f32.f32",
        "cvt.rzi.f32.f32",
        "cvt.sat.f32.f32",
        "cvt.ftz.f32.f32",
    ] {
        let body = format!("{form} %o0, %i0;");
        list.push(probe(form, 128, scale, &[Fill::Floats], 1, "", &body, 0));
    }
    for form in [
        "cvt.rn.f32.s32",
        "cvt.rz.f32.u32",
        "cvt.rp.f32.s32",
        "cvt.rm.f32.u32",
    ] {
        let body = format!("{form} %o0, %i0;");
        list.push(probe(form, 128, scale, &[Fill::Bits], 1, "", &body, 0));
    }
    for form in ["cvt.f32.f16", "cvt.f32.bf16"] {
        let body = format!("mov.b32 {{%h0, %h1}}, %i0; {form} %o0, %h0;");
        list.push(probe(form, 128, scale, &[Fill::Bits], 1, "", &body, 0));
    }
    for form in [
        "cvt.rn.f16.f32",
        "cvt.rz.bf16.f32",
        "cvt.rn.bf16.f32",
        "cvt.rni.sat.s8.f32",
        "cvt.rzi.u8.f32",
        "cvt.rni.s16.f32",
    ] {
        let body =
            format!("mov.b16 %h0, 0; mov.b16 %h1, 0; {form} %h0, %i0; mov.b32 %o0, {{%h0, %h1}};");
        list.push(probe(form, 128, scale, &[Fill::Floats], 1, "", &body, 0));
    }
    for form in [
        "cvt.sat.s8.s32",
        "cvt.u8.u32",
        "cvt.s8.s32",
        "cvt.sat.u16.s32",
    ] {
        let body = format!("mov.b16 %h1, 0; {form} %h0, %i0; mov.b32 %o0, {{%h0, %h1}};");
        list.push(probe(form, 128, scale, &[Fill::Bits], 1, "", &body, 0));
    }
}

fn integers(scale: u32, list: &mut Vec<Probe>) {
    let three = [Fill::Bits; 3];
    for form in [
        "prmt.b32",
        "prmt.b32.f4e",
        "prmt.b32.b4e",
        "prmt.b32.rc8",
        "prmt.b32.ecl",
        "prmt.b32.ecr",
        "prmt.b32.rc16",
        "bfe.u32",
        "bfe.s32",
        "shf.l.wrap.b32",
        "shf.l.clamp.b32",
        "shf.r.wrap.b32",
        "shf.r.clamp.b32",
        "mad.lo.u32",
        "mad.hi.s32",
        "mad.hi.u32",
        "sad.s32",
        "dp4a.s32.s32",
        "dp4a.u32.u32",
        "dp2a.lo.s32.u32",
    ] {
        // Small positions and lengths as well as large ones.
        let body = format!(
            "shr.u32 %t3, %i2, 26; and.b32 %t4, %i0, 1; setp.eq.u32 %p0, %t4, 0;
             selp.b32 %i2, %t3, %i2, %p0; {form} %o0, %i0, %i1, %i2;"
        );
        list.push(probe(form, 128, scale, &three, 1, "", &body, 0));
    }
    let four = [Fill::Bits; 4];
    let body = "and.b32 %i2, %i2, 63; and.b32 %i3, %i3, 63; bfi.b32 %o0, %i0, %i1, %i2, %i3;";
    list.push(probe("bfi.b32", 128, scale, &four, 1, "", body, 0));
    let body = "lop3.b32 %o0, %i0, %i1, %i2, 0x96; lop3.b32 %o1, %i0, %i1, %i2, 0xe8;";
    list.push(probe("lop3.b32", 128, scale, &three, 2, "", body, 0));
    for form in [
        "shl.b32",
        "shr.u32",
        "shr.s32",
        "mul.hi.s32",
        "mul.hi.u32",
        "div.s32",
        "div.u32",
        "rem.s32",
        "rem.u32",
        "min.s32",
        "max.u32",
        "add.sat.s32",
        "sub.sat.s32",
        "mul24.lo.s32",
    ] {
        // Shift amounts and divisors of all sizes, never 0.
        let body = format!(
            "and.b32 %t3, %i0, 7; and.b32 %t4, %i1, 31; shr.u32 %i1, %i1, %t4; or.b32 %i1, %i1, 1;
             {form} %o0, %i0, %i1;"
        );
        list.push(probe(form, 128, scale, &three[..2], 1, "", &body, 0));
    }
    for form in [
        "popc.b32",
        "clz.b32",
        "brev.b32",
        "bfind.u32",
        "bfind.s32",
        "bfind.shiftamt.u32",
        "abs.s32",
        "neg.s32",
        "not.b32",
    ] {
        let body = format!("{form} %o0, %i0;");
        list.push(probe(form, 128, scale, &[Fill::Bits], 1, "", &body, 0));
    }
}

fn floats(scale: u32, list: &mut Vec<Probe>) {
    let three = [Fill::Floats; 3];
    for form in [
        "add.rn.f32",
        "add.rz.f32",
        "add.rm.f32",
        "add.rp.f32",
        "sub.rn.f32",
        "mul.rn.f32",
        "mul.rz.f32",
        "mul.rp.f32",
        "add.ftz.f32",
        "mul.ftz.f32",
        "add.sat.f32",
        "div.rn.f32",
        "div.rz.f32",
        "min.f32",
        "max.f32",
        "min.NaN.f32",
        "max.NaN.f32",
        "max.xorsign.abs.f32",
        "copysign.f32",
    ] {
        let body = format!("{form} %o0, %i0, %i1;");
        list.push(probe(form, 128, scale, &three[..2], 1, "", &body, 0));
    }
    for form in [
        "fma.rn.f32",
        "fma.rz.f32",
        "fma.rm.f32",
        "fma.rn.ftz.f32",
        "fma.rn.sat.f32",
    ] {
        let body = format!("{form} %o0, %i0, %i1, %i2;");
        list.push(probe(form, 128, scale, &three, 1, "", &body, 0));
    }
    for form in [
        "sqrt.rn.f32",
        "rcp.rn.f32",
        "rcp.rz.f32",
        "sqrt.rp.f32",
        "neg.f32",
        "abs.f32",
        "neg.ftz.f32",
    ] {
        let body = format!("{form} %o0, %i0;");
        list.push(probe(form, 128, scale, &[Fill::Floats], 1, "", &body, 0));
    }
    for (form, ulps) in [
        ("ex2.approx.f32", 3),
        ("ex2.approx.ftz.f32", 3),
        ("rcp.approx.f32", 2),
        ("rcp.approx.ftz.f32", 2),
        ("rsqrt.approx.f32", 3),
        ("sqrt.approx.f32", 2),
    ] {
        let body = format!("{form} %o0, %i0;");
        list.push(probe(form, 128, scale, &[Fill::Floats], 1, "", &body, ulps));
    }
    for form in [
        "add.rn.f16x2",
        "mul.rn.f16x2",
        "add.sat.f16x2",
        "min.f16x2",
        "max.NaN.f16x2",
        "add.rn.bf16x2",
        "mul.rn.bf16x2",
        "max.bf16x2",
    ] {
        let body = format!("{form} %o0, %i0, %i1;");
        list.push(probe(form, 128, scale, &[Fill::Bits; 2], 1, "", &body, 0));
    }
    for form in ["fma.rn.f16x2", "fma.rn.bf16x2", "fma.rn.relu.f16x2"] {
        let body = format!("{form} %o0, %i0, %i1, %i2;");
        list.push(probe(form, 128, scale, &[Fill::Bits; 3], 1, "", &body, 0));
    }
    for comparison in ["lt", "leu", "equ", "neu", "num", "nan", "ge"] {
        let body = format!("setp.{comparison}.f32 %p0, %i0, %i1; selp.b32 %o0, 1, 0, %p0;");
        let name = format!("setp.{comparison}.f32");
        list.push(probe(&name, 128, scale, &three[..2], 1, "", &body, 0));
    }
}

fn warps(scale: u32, list: &mut Vec<Probe>) {
    for mode in ["up", "down", "bfly", "idx"] {
        for clamp in ["0x1f", "0x181f", "0x1807", "0"] {
            let name = format!("shfl.sync.{mode}.b32 clamp {clamp}");
            let body = format!(
                "and.b32 %t3, %i1, 63; shfl.sync.{mode}.b32 %o0|%p0, %i0, %t3, {clamp}, -1;
                 selp.b32 %o1, 1, 0, %p0;"
            );
            list.push(probe(&name, 128, scale, &[Fill::Bits; 2], 2, "", &body, 0));
        }
    }
    let body = "and.b32 %t3, %i0, 3; match.any.sync.b32 %o0, %t3, -1;
        match.all.sync.b32 %o1|%p0, %t3, -1; selp.b32 %o2, 1, 0, %p0;
        setp.eq.u32 %p1, %t3, 1; vote.sync.ballot.b32 %o3, %p1, -1;";
    list.push(probe(
        "match and vote",
        128,
        scale,
        &[Fill::Bits],
        4,
        "",
        body,
        0,
    ));
    for form in [
        "add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32",
    ] {
        let body = format!("redux.sync.{form} %o0, %i0, -1;");
        list.push(probe(
            &format!("redux.sync.{form}"),
            128,
            scale,
            &[Fill::Bits],
            1,
            "",
            &body,
            0,
        ));
    }
    for (form, count) in [("x1", 1), ("x2", 2), ("x4", 4)] {
        for trans in ["", ".trans"] {
            let registers = super::probes::list("o", 0..count);
            let body = format!(
                "shl.b32 %t3, %t0, 4; mov.u32 %t4, tile; add.u32 %t5, %t4, %t3;
                 st.shared.v4.b32 [%t5], {{%i0, %i1, %i2, %i3}};
                 bar.sync 0;
                 and.b32 %t6, %i4, 2032; add.u32 %t5, %t4, %t6;
                 ldmatrix.sync.aligned.m8n8.{form}{trans}.shared.b16 {registers}, [%t5];"
            );
            let name = format!("ldmatrix.{form}{trans}");
            let tile = ".shared .align 128 .b8 tile[2048];";
            list.push(probe(
                &name,
                128,
                scale,
                &[Fill::Bits; 5],
                count,
                tile,
                &body,
                0,
            ));
            let name = format!("stmatrix.{form}{trans}");
            let sources = super::probes::list("i", 0..count);
            // Each warp has 512 bytes; the matrices' rows lie in order, so that none is written
            // twice, and all of them are zeroed before.
            let body = format!(
                "mov.u32 %t4, tile; shr.u32 %t5, %t0, 5; mad.lo.u32 %t4, %t5, 512, %t4;
                 and.b32 %t5, %t0, 31; mad.lo.u32 %t6, %t5, 16, %t4;
                 st.shared.v4.b32 [%t6], {{%i4, %i4, %i4, %i4}};
                 bar.sync 0;
                 xor.b32 %t5, %t5, 3; mad.lo.u32 %t7, %t5, 16, %t4;
                 stmatrix.sync.aligned.m8n8.{form}{trans}.shared.b16 [%t7], {sources};
                 bar.sync 0;
                 ld.shared.v4.b32 {{%o0, %o1, %o2, %o3}}, [%t6];"
            );
            list.push(probe(
                &name,
                128,
                scale,
                &[Fill::Bits; 5],
                4,
                tile,
                &body,
                0,
            ));
        }
    }
    let body = "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;";
    list.push(probe(
        "movmatrix",
        128,
        scale,
        &[Fill::Bits],
        1,
        "",
        body,
        0,
    ));
}
