use super::*;

/// Small values, where every way of adding agrees.
#[test]
fn scales_apply_to_their_block_of_k() {
    // Two rows, three columns, K = 4 in two blocks.
    let a = [1.0, 2.0, 3.0, 4.0, -1.0, 0.5, 0.0, 2.0];
    let b = [1.0, 1.0, 1.0, 1.0, 2.0, 0.0, 1.0, -1.0, 0.0, 4.0, 0.5, 0.0];
    let scale_a = [2.0, 0.5, 1.0, 4.0];
    let scale_b = [1.0, 1.0, 0.25, 2.0, 8.0, 1.0];
    let mut c = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
    let old = c;
    accumulate_scaled(&a, &b, &mut c, (3, 4), (&scale_a, &scale_b));
    for row in 0..2 {
        for column in 0..3 {
            let mut expected = old[row * 3 + column];
            for k in 0..4 {
                let scales = scale_a[row * 2 + k / 2] * scale_b[column * 2 + k / 2];
                expected += a[row * 4 + k] * b[column * 4 + k] * scales;
            }
            assert_eq!(c[row * 3 + column], expected);
        }
    }
}

#[test]
fn sums_are_cut_toward_zero() {
    let just_below = 1.0 - 2f64.powi(-30);
    assert_eq!(cut(just_below), 1.0 - 2f32.powi(-24));
    assert_eq!(cut(-just_below), -1.0 + 2f32.powi(-24));
    assert_eq!(cut(2f64.powi(130)), f32::INFINITY);
    assert_eq!(cut(-2f64.powi(130)), f32::NEG_INFINITY);
    assert_eq!(cut(f64::from(f32::MAX) * 1.000_000_01), f32::MAX);
    assert!(cut(f64::NAN).is_nan());
}

/// A NaN factor (ue8m0 ff) makes everything of its row NaN.
#[test]
fn a_nan_factor_spreads_along_its_row() {
    let mut c = [0.0; 4];
    let scales: (&[f32], &[f32]) = (&[f32::NAN, 1.0], &[1.0, 1.0]);
    accumulate_scaled(&[1.0, 1.0], &[1.0, 1.0], &mut c, (2, 1), scales);
    assert!(c[0].is_nan() && c[1].is_nan());
    assert_eq!(c[2..], [1.0, 1.0]);
}
