use super::*;

fn saying(text: &str) -> Saying<'_> {
    Saying {
        text,
        key: None,
        at: 0,
    }
}

fn add(chat: &mut Chat, seconds: u64, text: &str) -> String {
    let now = Instant::ZERO + Duration::from_secs(seconds);
    let saying = saying(text);
    let text = Chat::check(&saying).unwrap();
    chat.add(now, ("p1", "Ada"), text, &saying).id
}

fn texts(chat: &mut Chat, seconds: u64, id: Option<&str>) -> Vec<String> {
    let now = Instant::ZERO + Duration::from_secs(seconds);
    chat.since(now, id)
        .into_iter()
        .map(|m| m.text.clone())
        .collect()
}

#[test]
fn a_message_has_only_visible_characters_and_a_length() {
    let check = |text: &str| Chat::check(&saying(text));
    assert_eq!(
        check("  hello\tyou \u{202e}x\u{0} ").unwrap(),
        "hello you x"
    );
    assert_eq!(check("a\r\nb\n\n\n\n\nc").unwrap(), "a\nb\n\nc");
    assert_eq!(check("<b>&amp;</b>").unwrap(), "<b>&amp;</b>");
    let stack = format!("a{}", "\u{301}".repeat(100));
    assert_eq!(check(&stack).unwrap().chars().count(), 4);
    for nothing in ["", " \n ", "\u{200b}\u{2060}", "\u{200d}\u{fe0f}"] {
        assert_eq!(check(nothing), Err(ChatError::Empty), "{nothing:?}");
    }
    assert!(check(&"ä".repeat(MAX_CHAT_TEXT)).is_ok());
    assert_eq!(
        check(&"a".repeat(MAX_CHAT_TEXT + 1)),
        Err(ChatError::TooLong)
    );
    assert_eq!(check(&"\u{200b}".repeat(100_000)), Err(ChatError::TooLong));
    let long = "k".repeat(MAX_KEY + 1);
    let keyed = Saying {
        key: Some(&long),
        ..saying("a")
    };
    assert_eq!(Chat::check(&keyed), Err(ChatError::BadKey));
}

#[test]
fn a_reader_who_comes_back_gets_what_it_missed_and_nothing_twice() {
    let mut chat = Chat::new("e");
    let ids: Vec<String> = (0..5).map(|n| add(&mut chat, n, &n.to_string())).collect();
    assert_eq!(texts(&mut chat, 9, None), ["0", "1", "2", "3", "4"]);
    assert_eq!(texts(&mut chat, 9, Some(&ids[2])), ["3", "4"]);
    assert!(texts(&mut chat, 9, Some(&ids[4])).is_empty());
    // Ids of another room, of a future message, and invalid ones.
    for unknown in [
        "f-3",
        "e-9",
        "e-",
        "",
        "e--1",
        "-3",
        "e-99999999999999999999999",
    ] {
        assert_eq!(texts(&mut chat, 9, Some(unknown)).len(), 5, "{unknown}");
    }
}

#[test]
fn the_history_is_bounded_in_count_bytes_and_age() {
    let mut chat = Chat::new("e");
    for n in 0..1000 {
        add(&mut chat, 0, &format!("{n}"));
    }
    let history = texts(&mut chat, 0, None);
    assert_eq!((history.len(), &*history[0]), (MAX_MESSAGES, "800"));
    assert_eq!(
        texts(&mut chat, 0, Some("e-3")).len(),
        MAX_MESSAGES,
        "forgotten since"
    );

    let mut chat = Chat::new("e");
    for _ in 0..1000 {
        add(&mut chat, 0, &"\u{1f600}".repeat(MAX_CHAT_TEXT));
        assert!(chat.bytes <= MAX_BYTES);
    }
    assert_eq!(texts(&mut chat, 0, None).len(), 8);

    let mut chat = Chat::new("e");
    let day = MAX_AGE.as_millis() / 1000;
    let first = add(&mut chat, 0, "old");
    add(&mut chat, 10, "new");
    assert_eq!(texts(&mut chat, day - 1, None), ["old", "new"]);
    assert_eq!(texts(&mut chat, day, None), ["new"]);
    assert_eq!(texts(&mut chat, day, Some(&first)), ["new"]);
    assert!(texts(&mut chat, day + 10, None).is_empty());
    assert_eq!(chat.bytes, 0);
}

#[test]
fn a_key_finds_the_message_of_its_author_only() {
    let mut chat = Chat::new("e");
    let keyed = Saying {
        key: Some("k"),
        ..saying("a")
    };
    let id = chat
        .add(Instant::ZERO, ("p1", "Ada"), "a".to_owned(), &keyed)
        .id;
    add(&mut chat, 0, "b");
    let found = |from, key| chat.sent(from, key).map(|m| &m.id);
    assert_eq!(found("p1", Some("k")), Some(&id));
    assert_eq!(found("p2", Some("k")), None);
    assert_eq!(found("p1", Some("l")), None);
    assert_eq!(found("p1", None), None);
}
