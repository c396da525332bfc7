use super::*;

fn contrast(metric: &'static str, here: &[f64], there: &[f64]) -> Contrast {
    let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
    let other = "webrtc@lte".to_owned();
    Contrast::of(metric, other, &some(here), &some(there), Centre::Mean).unwrap()
}

fn said(contrasts: &[Contrast]) -> Vec<String> {
    let sides = Sides {
        subject: "weft",
        other: BEST,
        seconds: 60.0,
        centre: Centre::Mean,
    };
    sentences(&sides, contrasts)
}

#[test]
fn the_better_system_is_named_with_the_difference_and_its_interval() {
    let said = said(&[
        contrast("goodput_mbps", &[7.0, 8.0, 9.0], &[4.0, 4.0, 4.0]),
        contrast("freeze_s", &[0.0, 0.0, 0.3], &[0.0, 0.0, 0.0]),
        contrast("e2e_ms_p95", &[90.0, 95.0, 100.0], &[110.0, 115.0, 120.0]),
    ]);
    assert_eq!(
        said,
        [
            "weft was better than the best single link: it carried more and its pictures arrived \
             sooner. These 3 runs show no difference in freezes.",
            // 4 ± 4.303 / sqrt(3).
            "weft carried 8 Mbit/s, the best single link (webrtc@lte) 4 Mbit/s: 4 Mbit/s more on \
             average (with 95 % confidence 1.52 to 6.48 Mbit/s), in 3 of 3 runs.",
            "weft froze for 0.1 s of 60, the best single link (webrtc@lte) never froze: these 3 \
             runs show no difference (with 95 % confidence between 0.33 s less and 0.53 s longer).",
            "95 % of the pictures of weft arrived within 95 ms, of the best single link \
             (webrtc@lte) within 115 ms: 20 ms sooner on average (with 95 % confidence 20 to 20 \
             ms), in 3 of 3 runs.",
        ]
    );
}

#[test]
fn a_worse_system_and_a_mixed_result_are_named() {
    let slow = || contrast("e2e_ms_p95", &[200.0, 210.0], &[100.0, 110.0]);
    let less = contrast("goodput_mbps", &[2.0, 2.1], &[4.0, 4.1]);
    assert_eq!(
        said(&[less, slow()])[0],
        "weft was worse than the best single link: it carried less and its pictures arrived later."
    );
    let more = contrast("goodput_mbps", &[4.0, 4.1], &[2.0, 2.1]);
    assert_eq!(
        said(&[more, slow()])[0],
        "weft was better than the best single link in some ways and worse in others: it \
         carried more, but its pictures arrived later."
    );
}

#[test]
fn chance_is_called_so() {
    let unclear = contrast("goodput_mbps", &[4.0, 6.0], &[5.0, 4.0]);
    let same = contrast("freeze_s", &[0.0, 0.0], &[0.0, 0.0]);
    let said_of_two = said(&[unclear, same]);
    assert_eq!(
        said_of_two[0],
        "These 2 runs show no difference between weft and the best single link in what it carried \
         and freezes."
    );
    assert_eq!(
        said_of_two[2],
        "Neither weft nor the best single link (webrtc@lte) ever froze: the same in each of the 2 \
         runs."
    );
    let one = said(&[contrast("goodput_mbps", &[4.0], &[2.0])]);
    assert!(one[0].starts_with("One run cannot tell a difference from chance"));
    assert!(one[1].ends_with("(webrtc@lte) 2 Mbit/s."), "{one:?}");
}
