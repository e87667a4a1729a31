use crate::Code;
use crate::cooccurrence::Cooccurrence;

/// Gives words that usually occur together one code. From the most frequent word to the rarest, each takes over the
/// code of the most similar word before it, of equally similar ones the most frequent, if the similarity is at least
/// `least`. Otherwise it keeps its own.
pub(crate) fn share_codes(codes: &mut [Code], cooccurrence: &Cooccurrence, least: f64) {
    for word in 0..codes.len() {
        let mut nearest = None;
        for (other, similarity) in cooccurrence.row(word).take_while(|(other, _)| *other < word) {
            if similarity >= least && nearest.is_none_or(|(_, highest)| similarity > highest) {
                nearest = Some((other, similarity));
            }
        }
        if let Some((other, _)) = nearest {
            codes[word] = codes[other];
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::memory::{Memory, no_limit};
    use crate::sample::Sample;

    #[test]
    fn words_take_the_code_of_the_nearest_one() {
        // s(0,1) = 2/√6, s(1,2) = 2/√4, s(0,2) = 2/√6, s(0,3) = 1/√6.
        let sentences = [vec![0, 1, 2], vec![0, 1, 2], vec![0, 3], vec![3], vec![4]];
        let sample = Sample::new(sentences.iter().map(Vec::as_slice), 5);
        let memory = Memory::new(&no_limit);
        let all = Cooccurrence::count(&sample, 5, NonZero::<usize>::MIN, &memory).unwrap();
        let own: [Code; 5] = std::array::from_fn(|bit| Code::of([u8::try_from(bit).unwrap()]));
        for (least, from) in
            [(0.3, [0, 0, 0, 0, 4]), (0.5, [0, 0, 0, 3, 4]), (0.9, [0, 1, 1, 3, 4]), (1.1, [0, 1, 2, 3, 4])]
        {
            let mut codes = own;
            share_codes(&mut codes, &all, least);
            assert_eq!(codes, from.map(|word| own[word]), "{least}");
        }
    }
}
