use super::MbarrierError as Error;
use super::*;

fn live(count: u32) -> Mbarrier {
    let mut barrier = Mbarrier::uninit();
    barrier.init(count).unwrap();
    barrier
}

/// Runs `attempt`, which must fail, and checks that it changes nothing.
#[track_caller]
fn refused<T: std::fmt::Debug>(
    barrier: &mut Mbarrier,
    attempt: impl FnOnce(&mut Mbarrier) -> Result<T>,
) -> Error {
    let before = barrier.clone();
    let error = attempt(barrier).unwrap_err();
    assert_eq!(*barrier, before);
    error
}

#[test]
fn a_fresh_barrier_answers_yes_to_parity_1_alone() {
    let barrier = live(3);
    assert_eq!(barrier.test_wait_parity(1), Ok(true));
    assert_eq!(barrier.test_wait_parity(0), Ok(false));
    assert_eq!(
        barrier.test_wait_parity(2),
        Err(Error::BadParity { parity: 2 })
    );
}

#[test]
fn the_last_arrive_completes_the_phase_and_the_count_starts_anew() {
    let mut barrier = live(3);
    assert!(!barrier.arrive(2).unwrap().completed_phase);
    let last = barrier.arrive(1).unwrap();
    assert!(last.completed_phase);
    assert_eq!(
        barrier.to_string(),
        "phase 1 (parity 1), pending 3 of 3, tx 0"
    );
    assert_eq!(barrier.test_wait(&last.state), Ok(true));
}

#[test]
fn bytes_may_land_before_they_are_announced() {
    let mut barrier = live(1);
    assert_eq!(barrier.complete_tx(4096), Ok(false));
    assert_eq!(barrier.tx(), Ok(-4096));
    assert!(barrier.arrive_expect_tx(4096).unwrap().completed_phase);
}

#[test]
fn expect_tx_alone_holds_a_phase_open_and_never_ends_it() {
    let mut barrier = live(1);
    barrier.expect_tx(16).unwrap();
    assert!(!barrier.arrive(1).unwrap().completed_phase);
    assert_eq!(
        barrier.to_string(),
        "phase 0 (parity 0), pending 0 of 1, tx 16"
    );
    assert_eq!(barrier.complete_tx(32), Ok(false));
    barrier.expect_tx(16).unwrap();
    assert_eq!((barrier.phase(), barrier.tx()), (Ok(0), Ok(0)));
}

#[test]
fn a_drop_counts_now_and_is_missed_later() {
    let mut barrier = live(3);
    barrier.arrive_drop(1).unwrap();
    assert_eq!((barrier.pending(), barrier.expected()), (Ok(2), Ok(2)));
    barrier.arrive_drop_no_complete(1).unwrap();
    assert!(barrier.arrive(1).unwrap().completed_phase);
    assert_eq!(barrier.pending(), Ok(1));
    let error = refused(&mut barrier, |b| b.arrive_drop_expect_tx(16));
    assert_eq!(
        error,
        Error::NobodyExpected {
            count: 1,
            expected: 1
        }
    );
}

#[test]
fn both_forms_of_cp_async_and_the_commit_arrive_once() {
    let mut barrier = live(1);
    barrier.cp_async_arrive_begin().unwrap();
    assert_eq!(barrier.pending(), Ok(2));
    assert_eq!(barrier.cp_async_arrive_complete(), Ok(false));
    assert_eq!(barrier.cp_async_arrive_noinc_complete(), Ok(true));
    assert_eq!(barrier.commit_arrive(), Ok(true));
    assert_eq!(barrier.phase(), Ok(2));
}

#[test]
fn the_inc_form_alone_lets_a_phase_end_early() {
    // Nobody's arrive is outstanding once the leader has come, so the first copy to finish ends it.
    let mut barrier = live(1);
    barrier.cp_async_arrive_begin().unwrap();
    barrier.arrive(1).unwrap();
    assert_eq!(barrier.cp_async_arrive_complete(), Ok(true));
}

#[test]
fn outside_its_life_a_barrier_takes_init_alone() {
    let mut barrier = Mbarrier::uninit();
    assert_eq!(barrier.to_string(), "not initialised");
    assert_eq!(refused(&mut barrier, |b| b.arrive(1)), Error::Uninitialised);
    assert_eq!(refused(&mut barrier, Mbarrier::inval), Error::Uninitialised);
    assert_eq!(barrier.test_wait_parity(1), Err(Error::Uninitialised));

    barrier.init(1).unwrap();
    assert_eq!(refused(&mut barrier, |b| b.init(1)), Error::InitWhileLive);
    barrier.arrive(1).unwrap();
    barrier.inval().unwrap();
    assert!(!barrier.is_valid());
    assert_eq!(barrier.to_string(), "invalidated");
    assert_eq!(
        refused(&mut barrier, |b| b.expect_tx(1)),
        Error::Invalidated
    );
    barrier.init(2).unwrap();
    assert_eq!(barrier.phase(), Ok(0));
}

#[test]
fn ranges_end_where_the_isa_says() {
    for count in [0, MAX_COUNT + 1] {
        let expected = Error::CountOutOfRange { count };
        assert_eq!(
            refused(&mut Mbarrier::uninit(), |b| b.init(count)),
            expected
        );
        assert_eq!(refused(&mut live(1), |b| b.arrive(count)), expected);
        assert_eq!(refused(&mut live(1), |b| b.arrive_drop(count)), expected);
    }
    let mut full = live(MAX_COUNT);
    assert_eq!(
        refused(&mut full, |b| b.cp_async_arrive_begin()),
        Error::PendingOutOfRange
    );
    assert!(full.arrive(MAX_COUNT).unwrap().completed_phase);

    full.expect_tx(MAX_TX).unwrap();
    let above = i64::from(MAX_TX) + 1;
    assert_eq!(
        refused(&mut full, |b| b.expect_tx(1)),
        Error::TxOutOfRange { tx: above }
    );
    assert_eq!(
        refused(&mut full, |b| b.arrive_expect_tx(1)),
        Error::TxOutOfRange { tx: above }
    );
    full.complete_tx(MAX_TX).unwrap();
    full.complete_tx(MAX_TX).unwrap();
    assert_eq!(
        refused(&mut full, |b| b.complete_tx(1)),
        Error::TxOutOfRange { tx: -above }
    );
}

#[test]
fn too_many_arrivals_and_a_completing_no_complete_are_refused() {
    let mut barrier = live(2);
    let error = refused(&mut barrier, |b| b.arrive(3));
    assert_eq!(
        error,
        Error::OverArrival {
            count: 3,
            pending: 2,
            phase: 0
        }
    );
    let error = refused(&mut barrier, |b| b.arrive_no_complete(2));
    assert_eq!(error, Error::NoCompleteCompletes { phase: 0 });
    // The bytes hold the phase open, so this one does not complete it.
    barrier.expect_tx(16).unwrap();
    barrier.arrive_no_complete(2).unwrap();
    let error = refused(&mut barrier, |b| b.commit_arrive());
    assert_eq!(
        error,
        Error::OverArrival {
            count: 1,
            pending: 0,
            phase: 0
        }
    );
}

#[test]
fn states_serve_their_phase_and_the_next() {
    let mut barrier = live(2);
    let first = barrier.arrive_no_complete(1).unwrap().state;
    assert_eq!(barrier.test_wait(&first), Ok(false));
    assert_eq!(Mbarrier::pending_count(&first), Ok(2));
    let last = barrier.arrive(1).unwrap().state;
    assert_eq!(barrier.test_wait(&first), Ok(true));
    assert_eq!(
        Mbarrier::pending_count(&last),
        Err(Error::StateNotFromNoComplete)
    );
    barrier.arrive(2).unwrap();
    let late = Error::WaiterTwoPhasesBehind {
        waits_for: Some(0),
        phase: 2,
    };
    assert_eq!(barrier.test_wait(&first), Err(late));
    assert_eq!(barrier.test_wait(&State::REMOTE), Err(Error::RemoteState));
    assert_eq!(
        Mbarrier::pending_count(&State::REMOTE),
        Err(Error::RemoteState)
    );
}

#[test]
fn a_waiter_two_phases_behind_is_found_where_parity_would_mislead_it() {
    let mut barrier = live(1);
    assert_eq!(barrier.check_first_pass_waiter(), Ok(WaitOutcome::Complete));
    assert_eq!(barrier.check_waiter(0), Ok(WaitOutcome::Pending));
    barrier.arrive(1).unwrap();
    assert_eq!(barrier.check_waiter(0), Ok(WaitOutcome::Complete));
    let early = barrier.check_waiter(2).unwrap_err();
    assert_eq!(
        early.to_string(),
        "a waiter for phase 2 is too early: the barrier is in phase 1"
    );
    let late = barrier.check_first_pass_waiter().unwrap_err().to_string();
    assert!(
        late.starts_with("a waiter for the phase before phase 0 is too late"),
        "{late}"
    );
    barrier.arrive(1).unwrap();
    assert_eq!(
        barrier.test_wait_parity(0),
        Ok(false),
        "phase 0 is long over"
    );
    let late = barrier.check_waiter(0).unwrap_err().to_string();
    assert_eq!(
        late,
        "a waiter for phase 0 is too late: the barrier is in phase 2"
    );
}

#[test]
fn the_rule_of_use_asks_for_a_wait_per_phase() {
    let mut barrier = Mbarrier::uninit().with_observation_rule();
    barrier.init(2).unwrap();
    barrier.observe().unwrap(); // nothing to see in phase 0
    barrier.arrive(2).unwrap();
    barrier.expect_tx(16).unwrap(); // not an arrive-on
    assert_eq!(
        refused(&mut barrier, |b| b.arrive(1)),
        Error::PhaseNotObserved { phase: 0 }
    );
    assert_eq!(
        refused(&mut barrier, |b| b.commit_arrive()),
        Error::PhaseNotObserved { phase: 0 }
    );
    barrier.observe().unwrap();
    barrier.arrive(1).unwrap();
    barrier.arrive(1).unwrap();
    barrier.complete_tx(16).unwrap();
    assert_eq!(
        refused(&mut barrier, |b| b.arrive(1)),
        Error::PhaseNotObserved { phase: 1 }
    );
}
