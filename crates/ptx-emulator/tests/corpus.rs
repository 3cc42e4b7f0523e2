//! Kernels that other compilers made: the right ones compute the right numbers without an error
//! under every schedule, and a planted fault is found under every schedule.
//!
//! The PTX is not part of this repository. `PTX_CORPUS` names the folder; without it and without
//! `shared/corpus` beside the workspace, everything is skipped. `PTX_CORPUS_SCHEDULES` sets how
//! many schedules the right kernels run under. With `--nocapture` each run prints a line.

#[path = "corpus/attention.rs"]
mod attention;
#[path = "corpus/elementwise.rs"]
mod elementwise;
#[path = "corpus/faults.rs"]
mod faults;
#[path = "corpus/folder.rs"]
mod folder;
#[path = "corpus/gemm.rs"]
mod gemm;
#[path = "corpus/numbers.rs"]
mod numbers;
#[path = "corpus/run.rs"]
mod run;
#[path = "corpus/save.rs"]
mod save;
#[path = "corpus/setup.rs"]
mod setup;

/// One row for each kernel: its file, what it has to show ([`run`]), and its launch.
macro_rules! rows {
    ($($folder:ident { $($kernel:ident: $show:ident($($argument:expr),+);)+ })+) => {
        $(mod $folder {
            #[allow(unused_imports, reason = "not every compiler has kernels of every family")]
            use crate::{
                attention,
                elementwise::{self, Style},
                faults,
                gemm::{self, Then, size},
                numbers::Element,
                run,
            };

            $(#[test]
            fn $kernel() {
                run::$show(stringify!($folder), stringify!($kernel), $($argument),+);
            })+
        })+

        const ROWS: &[&str] =
            &[$($(concat!(stringify!($folder), "/", stringify!($kernel)),)+)+];
    };
}

// Sizes are small, and yet give rings more tiles than they have stages and leave something
// outside at the edges wherever a kernel allows that.
rows! {
    cuda {
        add_barrier_sm80: right(|s| elementwise::add(s, 1024, 5));
        add_bulk_sm90: right(|s| elementwise::add(s, 1024, 5));
        add_pipe_roles_sm80: twin(|s| elementwise::add(s, 256, 6));
        add_tma_sm100: right(|s| elementwise::add_maps(s, Style::Cuda, 2, 148, 32));
        add_tma_sm90: twin(|s| elementwise::add_maps(s, Style::Cuda, 2, 148, 32));
        dsmem_ring_sm90: right(elementwise::exchange);
        gemm_sm100_sm100: twin(|s| gemm::cuda_maps(s, size(256, 128, 256)));
        gemm_sm80_sm80: right(|s| gemm::cuda_pointers(s, size(128, 256, 160)));
        gemm_sm90_mcast_sm90: right(|s| gemm::cuda_maps(s, size(256, 256, 320)));
        gemm_sm90_sm90: right(|s| gemm::cuda_maps(s, size(256, 128, 320)));
        neg_commitwrongbar_gemm_sm100_sm100:
            planted(faults::WRONG_COMMIT, |s| gemm::cuda_maps(s, size(256, 128, 256)));
        neg_noproxyfence_add_tma_sm90:
            planted(faults::NO_PROXY_FENCE, |s| {
                elementwise::add_maps(s, Style::Cuda, 1, 148, 32)
            });
        neg_parity_add_tma_sm90:
            planted(faults::PARITY, |s| elementwise::add_maps(s, Style::Cuda, 1, 148, 32));
        neg_txcount_add_tma_sm90:
            planted(faults::TX_COUNT, |s| elementwise::add_maps(s, Style::Cuda, 1, 148, 32));
        neg_weakwait_add_pipe_thread_sm80:
            planted(faults::WEAK_WAIT, |s| elementwise::add(s, 512, 6));
    }
    gluon {
        add_cpasync_mbar_s3_sm80: right(|s| elementwise::add_gluon(s, 512, 5));
        add_tma_s3_sm100: right(|s| elementwise::add_maps(s, Style::Triton, 2, 148, 32));
        gemm_tc5_2cta_fp16_256x128x64_s3_sm100: right(|s| {
            gemm::descriptors(s, size(304, 208, 304), [256, 128], Element::F16, Then::K)
        });
        gemm_tc5_fp16_128x128x64_s3_sm100: right(|s| {
            gemm::descriptors(s, size(176, 208, 304), [128, 128], Element::F16, Then::K)
        });
        gemm_tc5_persist_ws_fp16_128x128x64_s3_sm100: right(|s| {
            gemm::descriptors(s, size(176, 336, 304), [128, 128], Element::F16, Then::Programs(2))
        });
        gemm_wgmma_mcast_fp16_128x128x64_s3_cta2_sm90: right(|s| {
            gemm::descriptors(s, size(176, 208, 304), [128, 128], Element::F16, Then::K)
        });
        gemm_wgmma_ws_fp16_128x128x64_s3_sm90: right(|s| {
            gemm::descriptors(s, size(176, 208, 304), [128, 128], Element::F16, Then::K)
        });
    }
    // Every integer that Triton's kernels take is a multiple of 16.
    triton {
        add_fp32_1024_s4_sm80: right(elementwise::add_stream);
        add_fp32_1024_s4_sm90: right(elementwise::add_stream);
        add_tma_fp32_64x64_s3_sm100:
            right(|s| elementwise::add_maps(s, Style::Triton, 2, 1008, 64));
        add_tma_fp32_64x64_s3_ws_sm90:
            right(|s| elementwise::add_maps(s, Style::Triton, 2, 1008, 64));
        attn_fp16_d64_128x64_s3_sm100: right(|s| attention::descriptors(s, 2, 256));
        attn_fp16_d64_128x64_s3_sm90: right(|s| attention::descriptors(s, 2, 256));
        attn_fp16_d64_128x64_s3_ws_sm100: right(|s| attention::descriptors(s, 2, 256));
        attn_ptr_fp16_d64_128x64_s3_sm80: right(|s| attention::pointers(s, 2, 256));
        gemm_bf16_128x128x64_s3_sm80: right(|s| {
            gemm::triton_pointers(s, size(128, 256, 320), Element::Bf16, Element::Bf16)
        });
        gemm_devdesc_fp16_128x128x64_s3_ws_sm90: right(|s| {
            gemm::triton_pointers(s, size(176, 208, 304), Element::F16, Element::F16)
        });
        gemm_fp16_128x128x32_s4_sm80: right(|s| {
            gemm::triton_pointers(s, size(256, 128, 192), Element::F16, Element::F16)
        });
        gemm_fp16_128x128x64_s3_sm100: right(|s| {
            gemm::descriptors(s, size(176, 208, 304), [128, 128], Element::F16, Then::Sizes)
        });
        gemm_fp16_128x128x64_s3_sm90: right(|s| {
            gemm::descriptors(s, size(176, 208, 304), [128, 128], Element::F16, Then::Sizes)
        });
        gemm_fp16_128x128x64_s3_ws_sm100: right(|s| {
            gemm::descriptors(s, size(176, 208, 304), [128, 128], Element::F16, Then::Sizes)
        });
        gemm_fp16_128x256x64_s4_ws_sm100: right(|s| {
            gemm::descriptors(s, size(176, 272, 368), [128, 256], Element::F16, Then::Sizes)
        });
        gemm_fp16_256x128x64_s3_cta2_sm100: right(|s| {
            gemm::descriptors(s, size(304, 208, 304), [256, 128], Element::F16, Then::Sizes)
        });
        gemm_fp16_64x64x64_s2_sm100: right(|s| {
            gemm::descriptors(s, size(80, 112, 240), [64, 64], Element::F16, Then::Sizes)
        });
        gemm_fp16_64x64x64_s2_ws_sm90: right(|s| {
            gemm::descriptors(s, size(80, 112, 240), [64, 64], Element::F16, Then::Sizes)
        });
        gemm_fp8e4nv_128x128x128_s3_sm100: right(|s| {
            gemm::descriptors(s, size(176, 208, 624), [128, 128], Element::E4m3, Then::Sizes)
        });
        gemm_fp8e4nv_128x128x128_s3_sm90: right(|s| {
            gemm::descriptors(s, size(176, 208, 624), [128, 128], Element::E4m3, Then::Sizes)
        });
        gemm_mxfp8_128x128x128_s2_sm100: right(|s| gemm::scaled(s, size(128, 256, 512)));
        gemm_persist_clc_fp16_128x128x64_s3_ws_sm100: right(|s| {
            gemm::descriptors(s, size(400, 464, 304), [128, 128], Element::F16, Then::Programs(16))
        });
        gemm_persist_fp16_128x128x64_s4_sm90: right(|s| {
            gemm::descriptors(s, size(400, 528, 304), [128, 128], Element::F16, Then::Programs(16))
        });
        gemm_persist_fp16_128x128x64_s4_ws_sm100: right(|s| {
            gemm::descriptors(s, size(400, 528, 304), [128, 128], Element::F16, Then::Programs(16))
        });
        gemm_tf32_128x128x32_s3_sm80: right(|s| {
            gemm::triton_pointers(s, size(128, 256, 160), Element::F32, Element::F32)
        });
        rowsum_tma_fp16_64x64_s4_sm90: right(elementwise::row_sums);
        softmax_fp16_1024_s3_sm80: right(elementwise::softmax);
    }
}

#[test]
fn every_kernel_of_the_folder_has_a_row() {
    let there = folder::kernels();
    if there.is_empty() {
        println!("skipped: the PTX is not here (set PTX_CORPUS)");
        return;
    }
    let missing: Vec<_> = there
        .iter()
        .filter(|name| !ROWS.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}
