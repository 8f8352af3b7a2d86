//! Inputs made of others at random, by a fixed seed.

use ssdgauge_core::Random;
use std::ops::Range;

/// The maximum number of bytes that a change inserts or removes.
const MOST_BYTES: u64 = 64;
/// Numbers at the limits of their kinds.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "100",
    "255",
    "65536",
    "1e308",
    "0.000001",
    "nan",
    "inf",
    "9223372036854775807",
    "18446744073709551616",
];

/// Makes inputs of others.
pub(crate) struct Mutator<'a> {
    /// The inputs that are changed: those that are accepted first, as often as all others together.
    inputs: [Vec<&'a [u8]>; 2],
    random: Random,
}

impl<'a> Mutator<'a> {
    /// Returns the mutator of inputs that the program accepts, and of those that it refuses.
    pub(crate) fn new(accepted: Vec<&'a [u8]>, refused: Vec<&'a [u8]>) -> Mutator<'a> {
        Mutator { inputs: [accepted, refused], random: Random::new(1, 0) }
    }

    /// Returns one of the inputs with one change or a few.
    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut input = self.any().to_vec();
        loop {
            self.change(&mut input);
            if self.random.below(2) == 0 {
                return input;
            }
        }
    }

    fn any(&mut self) -> &'a [u8] {
        let side = self.random.below(2) as usize;
        let inputs = match self.inputs[side].is_empty() {
            true => &self.inputs[1 - side],
            false => &self.inputs[side],
        };
        inputs[self.random.below(inputs.len() as u64) as usize]
    }

    /// Changes bytes of any format, or the numbers, words and lines of a text.
    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.below(input.len() as u64 + 1) as usize;
        let end = input.len().min(at + 1 + self.random.below(MOST_BYTES) as usize);
        match self.random.below(9) {
            0 if at < end => input[at] ^= 1 << self.random.below(8),
            1 => {
                let byte = [0, 0x7f, 0x80, 0xff][self.random.below(4) as usize];
                input[at..end.min(at + 8)].fill(byte);
            }
            2 => drop(input.drain(at..end)),
            3 => {
                let other = self.any();
                let part = part_from(other, self.random.below(other.len() as u64 + 1) as usize);
                drop(input.splice(at..end, other[part].iter().copied()));
            }
            4 | 5 => {
                let number = NUMBERS[self.random.below(NUMBERS.len() as u64) as usize];
                let place = next(input, at, |byte| byte.is_ascii_digit() || byte == b'.');
                drop(input.splice(place, number.bytes()));
            }
            6 => {
                let is_word = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
                let other = self.any();
                let from = self.random.below(other.len() as u64 + 1) as usize;
                let word = other[next(other, from, is_word)].to_vec();
                let place = next(input, at, is_word);
                drop(input.splice(place, word));
            }
            7 => drop(input.drain(line(input, at))),
            _ => {
                let other = self.any();
                let from = self.random.below(other.len() as u64 + 1) as usize;
                let line_of_other = other[line(other, from)].to_vec();
                let place = line(input, at).start;
                drop(input.splice(place..place, line_of_other));
            }
        }
    }
}

fn part_from(bytes: &[u8], from: usize) -> Range<usize> {
    from..bytes.len().min(from + MOST_BYTES as usize)
}

/// Returns the next run of bytes that `belongs` accepts from `from` on; empty at the end.
fn next(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> Range<usize> {
    let find = |from: usize, wanted: bool| {
        let rest = bytes[from..].iter().position(|byte| belongs(*byte) == wanted);
        rest.map_or(bytes.len(), |distance| from + distance)
    };
    let begin = find(from, true);
    begin..find(begin, false)
}

/// Returns the line around the byte at `at`, with its end.
fn line(bytes: &[u8], at: usize) -> Range<usize> {
    let begin = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n');
    begin..end.map_or(bytes.len(), |distance| at + distance + 1)
}
