//! Checks that names are equal where the tokens that they stand for are equal.

use super::*;
use proptest::prelude::*;

/// A piece of a sequence, by the method that adds it.
#[derive(Clone, Debug)]
enum Part {
    Consecutive(Token, u32),
    Listed(Vec<Token>),
    Outputs(u32),
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        (1000..1004_u32, 1..6_u32).prop_map(|(first, count)| Part::Consecutive(first, count)),
        prop::collection::vec(prop_oneof![0..2_u32, 1000..1004_u32], 1..5).prop_map(Part::Listed),
        (1..6_u32).prop_map(Part::Outputs),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn names_are_equal_where_sequences_are(
        made in prop::collection::vec((any::<prop::sample::Index>(), 0..12_u32, prop::collection::vec(part(), 0..3)), 1..12),
        spelled in any::<bool>(),
    ) {
        let mut streams = Streams::new();
        let mut known: Vec<(Prefix, Vec<Token>)> = vec![(Prefix::EMPTY, Vec::new())];
        for (from, keep, parts) in made {
            let (from, tokens) = from.get(&known).clone();
            let len = keep.min(from.len);
            let (mut at, mut tokens) = (streams.prefix(from.stream, len), tokens[..len as usize].to_vec());
            for part in parts {
                match part {
                    Part::Consecutive(first, count) => {
                        at = streams.consecutive(at, first, count);
                        tokens.extend(first..first + count);
                    }
                    Part::Listed(list) => {
                        at = streams.listed(at, &list);
                        tokens.extend(list);
                    }
                    Part::Outputs(count) => {
                        let mut state = TokenFold::ZERO.fold_all(&tokens);
                        let before = tokens.clone();
                        for _ in 0..count {
                            tokens.push(state.sample());
                            state = state.fold(state.sample());
                        }
                        if spelled && count % 2 == 0 {
                            at = streams.listed(at, &tokens[before.len()..]);
                        } else {
                            let stream = streams.outputs(at);
                            at = streams.prefix(stream, at.len + count);
                        }
                    }
                }
            }
            prop_assert_eq!(streams.tokens(at), tokens.clone());
            prop_assert_eq!(streams.fold(at), TokenFold::ZERO.fold_all(&tokens));
            known.push((at, tokens));
        }
        for (one, of_one) in &known {
            prop_assert_eq!(&streams.tokens(*one), of_one);
            prop_assert_eq!(streams.prefix(one.stream, one.len), *one);
            for (other, of_other) in &known {
                let common = of_one.iter().zip(of_other).take_while(|(a, b)| a == b).count() as u32;
                prop_assert_eq!(streams.lineage.common_len(*one, *other), common);
                for len in 0..=common {
                    prop_assert_eq!(streams.prefix(one.stream, len), streams.prefix(other.stream, len));
                }
            }
        }
    }
}

#[test]
fn a_detached_stream_goes_on_from_what_it_is_attached_to() {
    let mut streams = Streams::new();
    let prompt = streams.consecutive(Prefix::EMPTY, 1000, 3);
    let outputs = streams.outputs(prompt);
    let (own, own_outputs) = (streams.detached(2000, 2), streams.detached_outputs());
    streams.attach(own, streams.prefix(outputs, 5));
    streams.attach(own_outputs, streams.prefix(own, 7));
    let all = streams.tokens(streams.prefix(own_outputs, 8));
    assert_eq!(all[..5], streams.tokens(streams.prefix(outputs, 5)));
    assert_eq!(all[5..7], [2000, 2001]);
    assert_eq!(all[7], TokenFold::ZERO.fold_all(&all[..7]).sample());
    assert_eq!(streams.lineage.common_len(streams.prefix(own_outputs, 8), streams.prefix(outputs, 9)), 5);
}

/// The fold is linear in the hash, so prompts that collide are easy to find.
#[test]
fn prompts_with_equal_folds_have_different_names() {
    let [one, other] = [[6_090_926, 8_287_108, 5000], [6_090_840, 8_274_800, 3_780_534]];
    assert_eq!(TokenFold::ZERO.fold_all(&one), TokenFold::ZERO.fold_all(&other));
    let mut streams = Streams::new();
    let [one, other] = [one, other].map(|prompt| streams.listed(Prefix::EMPTY, &prompt));
    assert_ne!(one, other);
    let [one, other] = [one, other].map(|prompt| streams.outputs(prompt)).map(|stream| streams.prefix(stream, 9));
    assert_ne!(one, other);
    assert_eq!(streams.lineage.common_len(one, other), 0);
}
