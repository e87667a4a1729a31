//! Polish.

use super::{EMPTY, Language};

#[rustfmt::skip]
pub(super) const POLISH: Language = Language {
    code: "pl",
    name: "Polish",
    examples: &[
        (
            "Dnia 5. maja padało. Dnia 6. Maja świeciło słońce.",
            &["Dnia 5. maja padało.", "Dnia 6. Maja świeciło słońce."],
        ),
        (
            "W 1. Dywizji służył dr Nowak. Było ich 12. Potem odszedł.",
            &["W 1. Dywizji służył dr Nowak.", "Było ich 12.", "Potem odszedł."],
        ),
        (
            "Są owoce, np. Antonówki, m.in. Jabłka i gruszki. Są też orzechy itd. Wszystko jest świeże.",
            &["Są owoce, np. Antonówki, m.in. Jabłka i gruszki.", "Są też orzechy itd.", "Wszystko jest świeże."],
        ),
        (
            "Patrz s. 5, rys. 3, art. XII i nr 2. Tam to jest.",
            &["Patrz s. 5, rys. 3, art. XII i nr 2.", "Tam to jest."],
        ),
        (
            "Urodził się w 1799 r. w Krakowie. Zmarł w 1837 r. Jego syn żył długo.",
            &["Urodził się w 1799 r. w Krakowie.", "Zmarł w 1837 r.", "Jego syn żył długo."],
        ),
        (
            "Miasto upadło w 44 r. p.n.e. i powstało. To był I w. n.e. Potem przyszedł pokój.",
            &["Miasto upadło w 44 r. p.n.e. i powstało.", "To był I w. n.e.", "Potem przyszedł pokój."],
        ),
        (
            "Prof. dr hab. Kowalski i ks. Zieliński mieszkają przy ul. Długiej. Mgr inż. Lis nie.",
            &["Prof. dr hab. Kowalski i ks. Zieliński mieszkają przy ul. Długiej.", "Mgr inż. Lis nie."],
        ),
        (
            "Kupił dom przy pl. Wolności za 5 tys. Złotych nie miał. Miał 3 tys. To za mało.",
            &["Kupił dom przy pl. Wolności za 5 tys. Złotych nie miał.", "Miał 3 tys.", "To za mało."],
        ),
        (
            "„Chodź!” – powiedział on. „Dlaczego?” – zapytała. „Nie!”",
            &["„Chodź!” – powiedział on.", "„Dlaczego?” – zapytała.", "„Nie!”"],
        ),
        (
            "– Chodź! zawołał on.\n– Dlaczego? – spytała.\n– Nie!",
            &["– Chodź! zawołał on.", "– Dlaczego? – spytała.", "– Nie!"],
        ),
        ("To jest plan B. Potem będzie plan C.", &["To jest plan B.", "Potem będzie plan C."]),
        (
            "Spotkanie jest 3. 10. 1990 Anna przyjdzie. Ja też.",
            &["Spotkanie jest 3. 10. 1990 Anna przyjdzie.", "Ja też."],
        ),
    ],
    never_last: &[
        "Abp", "Bp", "Dr", "Gen", "Inż", "Kard", "Kpt", "Ks", "Mgr", "Mjr", "Prof", "Płk", "Zob", "abp", "al", "bp",
        "dr", "ds", "franc", "gen", "hab", "inż", "kard", "kpt", "ks", "lek", "m.in", "mgr", "mjr", "niem", "np",
        "oprac", "os", "pl", "por", "prof", "płk", "red", "sp", "tj", "tzn", "tzw", "tłum", "ul", "woj", "zob", "łac",
        "Św", "śp", "św",
    ],
    before_numbers: &[
        "Dz.U", "art", "godz", "il", "lit", "nr", "ok", "par", "pkt", "poz", "rozdz", "ryc", "rys", "s", "str", "t",
        "tab", "tel", "ur", "ust", "zm",
    ],
    rarely_last: &["im", "in", "mld", "mln", "n.e", "o.o", "p.n.e", "proc", "r", "sygn", "tys", "w", "wyd", "wł"],
    often_last: &["cdn", "etc", "itd", "itp"],
    no_abbreviations: &["est"],
    starters: &[
        "a", "ale", "bo", "był", "była", "było", "były", "ci", "co", "czy", "dla", "dlaczego", "dlatego", "do", "dwa",
        "dzisiaj", "dziś", "gdy", "gdzie", "i", "ich", "ja", "jak", "jednak", "jego", "jej", "jest", "jeszcze",
        "jeśli", "jeżeli", "już", "każda", "każdy", "kiedy", "kto", "lecz", "lub", "my", "mój", "na", "następnie",
        "nasz", "nic", "nie", "nikt", "o", "od", "on", "ona", "one", "oni", "ono", "oraz", "po", "podczas", "ponieważ",
        "potem", "przez", "przy", "później", "są", "ta", "tak", "także", "tam", "te", "tego", "tej", "ten", "teraz",
        "też", "to", "trzy", "tu", "tutaj", "ty", "tych", "tylko", "u", "w", "wczoraj", "we", "według", "wiele",
        "wielu", "więc", "wszyscy", "wszystko", "wtedy", "wy", "z", "za", "ze", "że",
    ],
    after_ordinals: &[
        "armia", "armii", "brygada", "brygady", "czerwca", "dywizja", "dywizji", "edycja", "edycji", "grudnia",
        "klasa", "klasy", "kwietnia", "liga", "ligi", "lipca", "listopada", "lutego", "maja", "marca", "miejsce",
        "miejscu", "października", "piętro", "piętrze", "pułk", "pułku", "rocznica", "rocznicy", "rocznicę",
        "sierpnia", "stycznia", "tydzień", "wieku", "wojna", "wojny", "września",
    ],
    reporting_verbs: &[
        "dodał", "dodała", "jęknął", "krzyknął", "krzyknęła", "mruknął", "mruknęła", "mówi", "odparł", "odparła",
        "odpowiedział", "odpowiedziała", "pomyślał", "pomyślała", "powiedział", "powiedziała", "pyta", "rzekł",
        "rzekła", "spytał", "spytała", "szepnął", "szepnęła", "woła", "wrzasnął", "zapytał", "zapytała", "zawołał",
        "zawołała",
    ],
    frequent: &[
        "ale", "bardzo", "bez", "być", "był", "była", "było", "co", "czy", "dla", "do", "gdy", "gdzie", "go", "ich",
        "jak", "jego", "jej", "jest", "jeszcze", "już", "która", "które", "który", "ma", "może", "mu", "na", "nad",
        "nie", "nikogo", "od", "on", "ona", "oraz", "po", "pod", "potem", "przed", "przez", "przy", "roku", "się",
        "są", "tak", "także", "tam", "tego", "tej", "ten", "też", "to", "tylko", "tym", "we", "więc", "za", "ze", "że",
    ],
    letters: "ąęłśżźćńó",
    ..EMPTY
};
