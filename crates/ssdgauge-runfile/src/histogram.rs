//! Latency histograms as HdrHistogram V2 compressed blobs, the encoding that the libraries of other
//! languages read.
//!
//! The hdrhistogram crate writes them. A decoder of our own reads them, because a run file is
//! untrusted input: the crate allocates what the header says before it checks it, the decoder
//! nothing beyond the size of our own histograms.

use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use ssdgauge_core::Histogram;
use ssdgauge_statistics::histogram::MAX_VALUE;

/// Cookies of HdrHistogram's log format V2, with a word size of one byte.
const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
/// The header of the plain form: cookie, payload length, normalizing offset, digits, lowest and
/// highest value, conversion ratio.
const HEADER: usize = 40;
/// Counters of a histogram of ours: 2,048 exact values, then 1,024 for each of 31 octaves.
const BUCKETS: u64 = 33_792;
/// The largest plain form in bytes: every counter as a ZigZag LEB128 number of nine bytes.
const LARGEST: usize = BUCKETS as usize * 9 + HEADER;

/// Encodes the buckets of `histogram`; a histogram without buckets gives an empty blob.
pub fn encode(histogram: &Histogram) -> Vec<u8> {
    if histogram.count() == histogram.overflow() || !histogram.has_buckets() {
        return Vec::new();
    }
    // Values beyond the largest bucket are not in the blob: `lat_overflow` counts them.
    let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX_VALUE, 3)
        .expect("the bounds are valid constants");
    for (value, n) in histogram.buckets() {
        theirs.record_n(value, n).expect("every bucket of ours is one of theirs");
    }
    let mut blob = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&theirs, &mut blob)
        .expect("writing to memory cannot fail");
    blob
}

/// Decodes a blob into its buckets: the lowest value in nanoseconds and the count of each.
///
/// # Errors
///
/// A clause that names the defect, where the blob is cut off, has another encoding, or has other
/// bounds than ours.
pub fn decode(blob: &[u8]) -> Result<Vec<(u64, u64)>, &'static str> {
    let mut decoder = Decoder::new(u64::MAX);
    let counts = decoder.decode(blob)?;
    Ok(counts.iter().map(|(bucket, n)| (lowest(u64::from(*bucket)), *n)).collect())
}

/// A decoder of many blobs: its memory is allocated once, and the bytes that they unpack to are bounded.
///
/// Thirty bytes of a blob can unpack to 33,792 occupied buckets, so the size of a file does not bound the
/// time of reading it.
#[derive(Debug)]
pub(crate) struct Decoder {
    inflate: Decompress,
    plain: Vec<u8>,
    /// The occupied buckets of a blob, and after them unused ones.
    counts: Vec<(u32, u64)>,
    /// The bytes that further blobs may unpack to.
    left: u64,
    is_spent: bool,
}

impl Decoder {
    /// Returns a decoder of blobs that unpack to at most `most` bytes in all.
    pub(crate) fn new(most: u64) -> Decoder {
        Decoder {
            inflate: Decompress::new(true),
            plain: Vec::new(),
            counts: Vec::new(),
            left: most,
            is_spent: false,
        }
    }

    /// Returns whether a blob was refused because it exceeds the bytes that were left.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Decodes a blob into its occupied buckets: the number of each in ascending order, and its count.
    ///
    /// # Errors
    ///
    /// As [`decode`], and where the blobs unpack to more bytes than are left.
    pub(crate) fn decode(&mut self, blob: &[u8]) -> Result<&[(u32, u64)], &'static str> {
        if blob.is_empty() {
            return Ok(&[]);
        }
        let cookie = blob.get(..4).ok_or(CUT_OFF)?;
        if cookie != COMPRESSED.to_be_bytes() {
            return Err("a histogram of an unknown encoding");
        }
        let packed = blob.get(8..).ok_or(CUT_OFF)?;
        // The length bounds the memory: a few bytes of zlib can unpack to gigabytes. It is initialized
        // once, because that takes longer than unpacking a blob.
        self.plain.resize(LARGEST, 0);
        self.inflate.reset(true);
        let unpacked = self.inflate.decompress(packed, &mut self.plain, FlushDecompress::Finish);
        let length = self.inflate.total_out();
        // Also of a blob that cannot be unpacked to its end: the work up to there is done.
        self.take(length)?;
        if !matches!(unpacked, Ok(Status::StreamEnd)) {
            return Err("a histogram that cannot be unpacked");
        }
        let payload = payload(&self.plain[..length as usize])?;
        let occupied = counts(payload, &mut self.counts)?;
        Ok(&self.counts[..occupied])
    }

    fn take(&mut self, bytes: u64) -> Result<(), &'static str> {
        self.is_spent |= bytes > self.left;
        self.left = self.left.saturating_sub(bytes);
        match self.is_spent {
            true => Err("more histograms before it than its size explains"),
            false => Ok(()),
        }
    }
}

const CUT_OFF: &str = "a histogram that is cut off";

/// Returns the counters of the plain form `plain`, whose header must be that of our histograms.
fn payload(plain: &[u8]) -> Result<&[u8], &'static str> {
    let word = |at: usize| plain.get(at..at + 4).map(|bytes| bytes.try_into().expect("four bytes"));
    let number = |at: usize| word(at).map(u32::from_be_bytes);
    let long = |at: usize| Some(u64::from(number(at)?) << 32 | u64::from(number(at + 4)?));
    if number(0) != Some(PLAIN) || number(12) != Some(3) || long(24) != Some(MAX_VALUE) {
        return Err("a histogram with other bounds than ours");
    }
    let payload = plain.get(HEADER..).ok_or(CUT_OFF)?;
    match number(4).map(|length| length as usize) == Some(payload.len()) {
        true => Ok(payload),
        false => Err(CUT_OFF),
    }
}

/// Reads the counters into the start of `counts`: a positive number is a count, a negative one a run of
/// empty buckets. In ZigZag, even numbers are positive, and −n is 2 n − 1. Returns how many are occupied.
///
/// Counts and empty buckets alternate by chance, so each number takes the place of the next count, and
/// only a count keeps it: a branch would be predicted wrongly every other time.
fn counts(mut payload: &[u8], counts: &mut Vec<(u32, u64)>) -> Result<usize, &'static str> {
    // Each number has a byte at least.
    if counts.len() < payload.len() {
        counts.resize(payload.len(), (0, 0));
    }
    let (mut occupied, mut bucket) = (0, 0u64);
    while let Some((first, rest)) = payload.split_first() {
        // Most numbers of a second have one byte.
        let number = match first & 0x80 {
            0 => {
                payload = rest;
                u64::from(*first)
            }
            _ => long_number(&mut payload).ok_or(CUT_OFF)?,
        };
        // `&` instead of `&&`, which would be a branch.
        let is_count = (number & 1 == 0) & (number > 0);
        counts[occupied] = (bucket as u32, number >> 1);
        occupied += usize::from(is_count);
        // A zero counts as one empty bucket, so that every number moves on.
        let empty = (number >> 1) + 1;
        bucket += std::hint::select_unpredictable(is_count, 1, empty);
        if bucket > BUCKETS {
            return Err("a histogram with more buckets than ours");
        }
    }
    Ok(occupied)
}

/// Returns the lowest value of a bucket: 2,048 exact ones, then 1,024 for each octave.
fn lowest(bucket: u64) -> u64 {
    let octave = (bucket >> 10).saturating_sub(1);
    (bucket - (octave << 10)) << octave
}

/// Reads one LEB128 number; the ninth byte carries eight bits.
fn long_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for index in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if index == 8 {
            value |= u64::from(*byte) << 56;
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    fn check(values: &[u64]) {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        let blob = encode(&histogram);
        assert_eq!(decode(&blob).unwrap(), histogram.buckets().collect::<Vec<_>>());
        if !blob.is_empty() {
            let theirs: hdrhistogram::Histogram<u64> =
                Deserializer::new().deserialize(&mut &blob[..]).unwrap();
            assert_eq!(theirs.len(), histogram.count() - histogram.overflow());
        }
    }

    proptest! {
        #[test]
        fn an_encoded_histogram_is_decoded_alike_by_us_and_by_the_crate(
            values in proptest::collection::vec((0u64..1 << 44, 0u32..44).prop_map(|(v, s)| v >> s), 0..300)
        ) {
            check(&values);
        }

        #[test]
        fn no_blob_makes_the_decoder_panic(blob in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&blob);
        }

        #[test]
        fn a_changed_blob_is_read_or_refused_but_never_too_large(at in 0usize..200, bit in 0u8..8) {
            let mut histogram = Histogram::default();
            (0..500u64).for_each(|n| histogram.record(n * n * 7));
            let mut blob = encode(&histogram);
            let at = at % blob.len();
            blob[at] ^= 1 << bit;
            if let Ok(buckets) = decode(&blob) {
                prop_assert!(buckets.len() <= 33_792);
            }
        }
    }

    #[test]
    fn a_decoder_refuses_blobs_that_unpack_to_more_than_is_left() {
        let mut histogram = Histogram::default();
        (0..500u64).for_each(|n| histogram.record(n * n * 7));
        let blob = encode(&histogram);
        // Each of the 500 buckets takes a byte or more.
        let mut decoder = Decoder::new(1_500);
        assert_eq!(decoder.decode(&blob).unwrap().len(), decode(&blob).unwrap().len());
        assert!(!decoder.is_spent());
        assert!(decoder.decode(&blob).is_err() && decoder.is_spent());
    }

    #[test]
    fn runs_of_empty_buckets_end_where_the_buckets_end() {
        let mut buckets = Vec::new();
        assert_eq!(counts(&[0; BUCKETS as usize], &mut buckets), Ok(0));
        assert!(counts(&[0; BUCKETS as usize + 1], &mut buckets).is_err());
    }

    #[test]
    fn counts_beyond_32_bits_are_kept() {
        let histogram =
            Histogram::from_parts([(5, u64::from(u32::MAX) * 1_000)], 0, 5, 5, 0).unwrap();
        assert_eq!(decode(&encode(&histogram)).unwrap(), [(5, u64::from(u32::MAX) * 1_000)]);
    }
}
