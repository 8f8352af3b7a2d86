use super::*;
use crate::random::Random;
use proptest::prelude::*;

fn recorded(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

#[test]
fn edges_are_those_of_hdrhistogram() {
    let theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX_VALUE, 3).unwrap();
    let mut random = Random::new(5, 0);
    for _ in 0..1_000_000 {
        let value = random.next_u64() >> (22 + random.below(42));
        let (low, high) = edges_of(bucket_of(value));
        assert_eq!(low, theirs.lowest_equivalent(value), "{value}");
        assert_eq!(high, theirs.highest_equivalent(value), "{value}");
    }
    assert_eq!(bucket_of(MAX_VALUE), BUCKETS - 1);
}

#[test]
fn a_percentile_is_within_a_thousandth_of_the_exact_sample() {
    let mut random = Random::new(11, 0);
    let mut values: Vec<u64> =
        (0..200_000).map(|_| (60_000.0 * (random.unit() * 4.0).exp()) as u64).collect();
    let histogram = recorded(&values);
    values.sort_unstable();
    for share in [0.5, 0.9, 0.99, 0.999, 0.9999] {
        let exact = values[(share * values.len() as f64).ceil() as usize - 1];
        let shown = histogram.percentile(share).unwrap();
        assert!(shown >= exact && (shown - exact) as f64 <= exact as f64 * 0.001);
    }
}

#[test]
fn a_percentile_without_a_sample_beyond_it_is_none() {
    assert_eq!(recorded(&[]).percentile(0.5), None);
    assert_eq!(recorded(&[7]).percentile(0.5), None);
    assert_eq!(recorded(&[7; 99]).percentile(0.99), None);
    assert_eq!(recorded(&[7; 101]).percentile(0.99), Some(7));
    assert_eq!(recorded(&[7; 1_000]).percentile(0.9999), None);
}

#[test]
fn values_above_the_range_are_counted_separately() {
    let mut histogram = recorded(&[100; 98]);
    histogram.record(MAX_VALUE + 5);
    histogram.record(u64::MAX / 2);
    assert_eq!(histogram.overflow(), 2);
    assert_eq!(histogram.max(), Some(u64::MAX / 2));
    assert_eq!(histogram.percentile(0.98), Some(100));
    assert_eq!(histogram.percentile(0.985), None, "it is in the overflow");
}

#[test]
fn a_percentile_never_exceeds_the_exact_maximum() {
    let histogram = recorded(&[1_000_003; 50]);
    assert_eq!(histogram.percentile(0.9), Some(1_000_003));
}

#[test]
fn without_buckets_the_exact_figures_remain() {
    let whole = recorded(&[3, 5, 10_000]);
    let figures = whole.without_buckets();
    assert_eq!((figures.count(), figures.sum()), (3, 10_008));
    assert_eq!((figures.min(), figures.max()), (Some(3), Some(10_000)));
    assert_eq!(figures.percentile(0.5), None);
    assert_eq!(figures.buckets().count(), 0);
}

#[test]
fn contradictory_parts_are_refused() {
    assert!(Histogram::from_parts([(100, 1)], 100, 100, 100, 0).is_some());
    assert!(Histogram::from_parts([(100, 1)], 100, 7, 100, 0).is_none());
    let three = [(7, 1), (100, 1), (200, 1)];
    assert!(Histogram::from_parts(three, 307, 7, 200, 0).is_some());
    assert!(Histogram::from_parts(three, 307, 7, 100, 0).is_none(), "a bucket above the maximum");
    assert!(Histogram::from_parts(three, 307, 100, 200, 0).is_none(), "a bucket below the minimum");
    assert!(Histogram::from_parts([(MAX_VALUE + 1, 1)], 0, 0, 0, 0).is_none());
    assert!(Histogram::from_parts([(100, u64::MAX), (100, 1)], 0, 100, 100, 0).is_none());
}

#[test]
fn counts_are_refused_where_they_are_out_of_order_empty_or_beyond_the_buckets() {
    let counts = |counts: &[(u32, u64)]| Histogram::from_counts(counts, 307, 7, 200, 0);
    assert_eq!(
        counts(&[(7, 1), (100, 1), (200, 1)]),
        Histogram::from_parts([(200, 1), (7, 1), (100, 1)], 307, 7, 200, 0)
    );
    assert!(counts(&[(7, 1), (100, 1), (100, 1), (200, 1)]).is_none());
    assert!(counts(&[(7, 1), (150, 1), (100, 1), (200, 1)]).is_none());
    assert!(counts(&[(7, 1), (100, 0), (200, 1)]).is_none());
    let beyond = MAX_VALUE + 1;
    assert!(Histogram::from_counts(&[(BUCKETS as u32 - 1, 1)], 0, beyond, beyond, 0).is_some());
    assert!(Histogram::from_counts(&[(BUCKETS as u32, 1)], 0, beyond, beyond, 0).is_none());
}

#[test]
fn percentiles_that_another_program_stated_are_neither_merged_nor_a_distribution() {
    let stated = Histogram::from_stated((1_000, 90_000, 10, 700), &[(50.0, 80), (99.9, 600)]);
    assert_eq!([stated.percentile(0.5), stated.percentile(0.99)], [Some(80), None]);
    // Of a thousand values, one is beyond; of a hundred, none is.
    assert_eq!(stated.percentile(0.999), Some(600));
    let few = Histogram::from_stated((100, 9_000, 10, 700), &[(99.9, 600)]);
    assert_eq!((few.percentile(0.999), few.stated()), (None, &[(99.9, 600)][..]));
    assert_eq!(
        (stated.mean(), stated.buckets().count(), stated.share_above(80)),
        (Some(90.0), 0, None)
    );
    let mut sum = Histogram::default();
    sum.merge(&stated);
    assert_eq!(sum, stated, "the sum of one is that one");
    let mut counted = Histogram::default();
    counted.record(500);
    for (one, other) in [(&stated, &stated), (&stated, &counted), (&counted, &stated)] {
        let mut sum = one.clone();
        sum.merge(other);
        assert_eq!(sum.count(), one.count() + other.count());
        assert_eq!((sum.max(), sum.percentile(0.5)), (Some(700), None));
        assert!(sum.stated().is_empty() && !sum.has_buckets());
    }
}

proptest! {
    #[test]
    fn merging_equals_recording_all(a in values(), b in values(), c in values()) {
        let all = recorded(&[a.clone(), b.clone(), c.clone()].concat());
        let mut left = recorded(&a);
        left.merge(&recorded(&b));
        left.merge(&recorded(&c));
        let mut right = recorded(&b);
        right.merge(&recorded(&c));
        let mut outer = recorded(&a);
        outer.merge(&right);
        prop_assert_eq!(&left, &all);
        prop_assert_eq!(&outer, &all);
    }

    #[test]
    fn a_drained_recorder_equals_recording(a in values(), b in values()) {
        let mut recorder = Recorder::default();
        let mut target = Histogram::default();
        for part in [&a, &b] {
            part.iter().for_each(|value| recorder.record(*value));
            recorder.drain_into(&mut target);
            prop_assert_eq!(recorder.count(), 0);
        }
        prop_assert_eq!(&target, &recorded(&[a, b].concat()));
    }

    #[test]
    fn parts_rebuild_the_histogram(a in values()) {
        let histogram = recorded(&a);
        let (min, max) = (histogram.min().unwrap_or(0), histogram.max().unwrap_or(0));
        let again = Histogram::from_parts(
            histogram.buckets(), histogram.sum(), min, max, histogram.overflow());
        prop_assert_eq!(again.as_ref(), Some(&histogram));
        let mut compact = histogram.clone();
        compact.compact();
        prop_assert!(compact.size() <= histogram.size());
        prop_assert_eq!(&compact, &histogram);
        for share in [0.0, 0.5, 0.9, 0.99] {
            prop_assert_eq!(compact.percentile(share), histogram.percentile(share));
        }
        let mut twice = compact.clone();
        twice.merge(&compact);
        let mut dense = histogram.clone();
        dense.merge(&histogram);
        prop_assert_eq!(twice, dense);
    }
}

fn values() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec((0u64..1 << 44, 0u32..44).prop_map(|(v, s)| v >> s), 0..200)
}
