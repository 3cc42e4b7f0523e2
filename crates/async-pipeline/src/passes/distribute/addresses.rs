//! Numbers that follow bit by bit from the lane and the warp of a thread.

use super::Threads;
use crate::build::Build;
use async_pipeline_sys::ir::Value;

/// A run of bits whose images are one image times 1, 2, 4, …: shift, mask, factor.
struct Run {
    shift: u32,
    bits: u32,
    factor: u32,
}

/// The images of bits as few products of parts of the number.
///
/// Image `i` of a run is `factor << i`. The product then is the exclusive or of the images as long
/// as no two of them share a bit; where they do, a run ends.
fn runs(images: &[u32]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (bit, &image) in images.iter().enumerate() {
        if image == 0 {
            continue;
        }
        let bit = bit as u32;
        if let Some(last) = runs.last_mut()
            && last.shift + last.bits == bit
            && last.factor.checked_shl(last.bits) == Some(image)
            && (0..last.bits).all(|other| (last.factor << other) & image == 0)
        {
            last.bits += 1;
        } else {
            runs.push(Run {
                shift: bit,
                bits: 1,
                factor: image,
            });
        }
    }
    runs
}

/// The exclusive or of the images whose bit is set in the lane or the warp, index.
pub(super) fn combined(threads: &Threads, lanes: &[u32], warps: &[u32]) -> Value {
    let build = threads.start;
    let parts = [(threads.lane, lanes), (threads.warp, warps)];
    let mut sum: Option<Value> = None;
    for (number, images) in parts {
        for run in runs(images) {
            let part = part(build, number, &run);
            sum = Some(match sum {
                Some(sum) => build.xor(sum, part),
                None => part,
            });
        }
    }
    sum.unwrap_or_else(|| build.index(0))
}

fn part(build: Build, number: Value, run: &Run) -> Value {
    let shifted = build.div(number, build.index(1 << run.shift));
    let masked = build.rem(shifted, build.index(1 << run.bits));
    build.mul(masked, build.index(i64::from(run.factor)))
}

#[cfg(test)]
mod tests {
    use super::runs;

    fn evaluate(images: &[u32], number: u32) -> u32 {
        runs(images).iter().fold(0, |sum, run| {
            sum ^ (((number >> run.shift) & ((1 << run.bits) - 1)) * run.factor)
        })
    }

    #[test]
    fn runs_compute_what_the_bits_do() {
        let cases: [&[u32]; 5] = [
            &[0x90, 0x120, 0x240, 0, 16],
            &[2, 4, 1 << 7, 1 << 8, 1 << 9],
            &[3, 6, 12, 1, 1],
            &[0, 0, 5, 10, 0],
            &[16, 32, 64],
        ];
        for images in cases {
            for number in 0..1_u32 << images.len() {
                let expected = images
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| number >> bit & 1 == 1)
                    .fold(0, |sum, (_, image)| sum ^ image);
                assert_eq!(
                    evaluate(images, number),
                    expected,
                    "{images:x?} at {number}"
                );
            }
        }
    }
}
