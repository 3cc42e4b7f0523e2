//! A manifest as a table for people.

use std::fmt::Write as _;

use ptx_model::manifest::{Argument, Completion, Kernel, Manifest, MemrefArgument, Parameter};

use crate::layout::shape_text;

/// The manifest in words, one block of lines per kernel.
pub fn summary(manifest: &Manifest) -> String {
    let mut text = String::new();
    for kernel in &manifest.kernels {
        let (target, ptx) = (&manifest.target, &manifest.ptx_version);
        line(
            &mut text,
            "",
            &format!("kernel {}, {target}, PTX {ptx}", kernel.name),
        );
        kernel_lines(&mut text, kernel);
    }
    text
}

fn line(text: &mut String, label: &str, value: &str) {
    // Writing into a string has no way to fail.
    let _ = if label.is_empty() {
        writeln!(text, "{value}")
    } else {
        writeln!(text, "  {label:<10} {value}")
    };
}

fn triple(sizes: [u32; 3]) -> String {
    let [x, y, z] = sizes;
    format!("{x} x {y} x {z}")
}

fn kernel_lines(text: &mut String, kernel: &Kernel) {
    let threads: u32 = kernel.block.iter().product();
    let block = triple(kernel.block);
    line(
        text,
        "block",
        &format!("{block}, {} warps", threads.div_ceil(32)),
    );
    if let Some(cluster) = kernel.cluster {
        line(text, "cluster", &triple(cluster));
    }
    let grid = kernel.grid.as_ref().map_or_else(
        || "given at launch".to_owned(),
        |[x, y, z]| format!("({x}, {y}, {z})"),
    );
    line(text, "grid", &grid);
    line(
        text,
        "shared",
        &format!("{} bytes", kernel.dynamic_shared_bytes),
    );
    for argument in &kernel.arguments {
        line(text, "argument", &argument_text(argument));
    }
    for parameter in &kernel.parameters {
        if let Parameter::TensorMap(map) = parameter {
            let name = kernel
                .memref(map.argument)
                .map_or("?", |memref| &memref.name);
            let sizes: Vec<u64> = map.box_shape.iter().map(|&size| size.into()).collect();
            let (element, sizes) = (map.element_type, shape_text(&sizes));
            let swizzle = match map.swizzle.span_bytes() {
                None => "no swizzle".to_owned(),
                Some(span) => format!("{span}-byte swizzle"),
            };
            line(
                text,
                "tensor map",
                &format!("of {name}, box {sizes} {element}, {swizzle}"),
            );
        }
    }
    roles(text, kernel);
    channels(text, kernel);
    for barrier in &kernel.barriers {
        let (name, stages) = (&barrier.name, barrier.stages);
        let (count, bytes) = (barrier.arrival_count, barrier.tx_bytes);
        let value = format!("{name} x {stages}, {count} arrivals, {bytes} bytes per phase");
        line(text, "barrier", &value);
    }
    if let Some(registers) = &kernel.registers_per_warpgroup {
        let registers: Vec<String> = registers.iter().map(u32::to_string).collect();
        line(
            text,
            "registers",
            &format!("{} per warpgroup", registers.join(", ")),
        );
    }
    if kernel.wait_report.is_some() {
        line(text, "waits", "report and trap when they run too long");
    }
}

fn argument_text(argument: &Argument) -> String {
    match argument {
        Argument::Scalar(scalar) => format!("{}: {}", scalar.name, scalar.scalar_type),
        Argument::Memref(memref) => {
            let MemrefArgument {
                name,
                element_type,
                shape,
                alignment,
                ..
            } = memref;
            let sizes = shape
                .iter()
                .map(|size| size.map_or("?".to_owned(), |n| n.to_string()));
            let mut sizes: Vec<String> = sizes.collect();
            sizes.push(element_type.to_string());
            let aliases = if memref.aliases { ", may alias" } else { "" };
            format!(
                "{name}: {}, aligned to {alignment} bytes{aliases}",
                sizes.join("x")
            )
        }
    }
}

fn roles(text: &mut String, kernel: &Kernel) {
    for role in &kernel.roles {
        let last = role.first_warp.saturating_add(role.warps.saturating_sub(1));
        let mut value = if role.warps == 1 {
            format!("{}, warp {}", role.name, role.first_warp)
        } else {
            format!("{}, warps {} to {last}", role.name, role.first_warp)
        };
        if role.elected {
            value += ", one elected thread";
        }
        if let Some(registers) = role.registers {
            value += &format!(", {registers} registers");
        }
        line(text, "role", &value);
    }
}

fn channels(text: &mut String, kernel: &Kernel) {
    for channel in &kernel.channels {
        let completion = match channel.completion {
            Completion::Tma => "tma",
            Completion::CpAsync => "cp_async",
            Completion::Tcgen05 => "tcgen05",
            Completion::Wgmma => "wgmma",
            Completion::Threads => "threads",
        };
        let fields: Vec<String> = channel
            .fields
            .iter()
            .map(|field| format!("{} {}", shape_text(&field.shape), field.element_type))
            .collect();
        let (name, stages, bytes) = (&channel.name, channel.stages, channel.slot_bytes);
        let fields = fields.join(" + ");
        let value = format!("{name}, {stages} stages of {bytes} bytes ({fields}), by {completion}");
        line(text, "channel", &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_everything() {
        let text = r#"{"schema_version":1,"target":"sm_90a","ptx_version":"8.6","kernels":[{
          "name":"scale","block":[160,1,1],"cluster":[2,1,1],
          "grid":[{"ceildiv":[{"dim":{"argument":0,"dimension":0}},{"const":64}]},{"const":1},{"const":1}],
          "dynamic_shared_bytes":33024,
          "arguments":[{"kind":"memref","name":"A","element_type":"f16","shape":[null,64],
            "strides":[null,1],"alignment":16,"aliases":true},{"kind":"scalar","name":"alpha","type":"f32"}],
          "parameters":[{"kind":"tensor_map","argument":0,"element_type":"f16","box":[64,64],
            "element_strides":[1,1],"swizzle":"128b","fill":"zero"}],
          "roles":[{"name":"load","first_warp":0,"warps":1,"elected":true,"registers":null},
                   {"name":"compute","first_warp":1,"warps":4,"elected":false,"registers":232}],
          "channels":[{"name":"in","stages":4,"slot_bytes":8192,"completion":"tma",
            "fields":[{"shape":[64,64],"element_type":"f16"}],"shared_offset":0}],
          "barriers":[{"name":"in.full","stages":4,"arrival_count":1,"tx_bytes":8192,"shared_offset":32768}],
          "registers_per_warpgroup":[40,232],
          "wait_report":{"symbol":"s","bytes":32,"roles":[]}}]}"#;
        let manifest = Manifest::from_json(text).expect("valid");
        let expected = "\
kernel scale, sm_90a, PTX 8.6
  block      160 x 1 x 1, 5 warps
  cluster    2 x 1 x 1
  grid       (ceildiv(dim(0, 0), 64), 1, 1)
  shared     33024 bytes
  argument   A: ?x64xf16, aligned to 16 bytes, may alias
  argument   alpha: f32
  tensor map of A, box 64x64 f16, 128-byte swizzle
  role       load, warp 0, one elected thread
  role       compute, warps 1 to 4, 232 registers
  channel    in, 4 stages of 8192 bytes (64x64 f16), by tma
  barrier    in.full x 4, 1 arrivals, 8192 bytes per phase
  registers  40, 232 per warpgroup
  waits      report and trap when they run too long
";
        assert_eq!(summary(&manifest), expected);
    }
}
