//! Languages without their own rules. They are detected so that a text in one of them is not taken for a language with
//! rules.

/// A language that is detected, but has no rules.
pub(super) struct Other {
    /// Frequent words of at most 16 bytes.
    pub(super) frequent: &'static [&'static str],
    /// Letters that few other languages have.
    pub(super) letters: &'static str,
}

#[rustfmt::skip]
pub(super) const OTHERS: [Other; 15] = [
    // English
    Other {
        frequent: &[
            "about", "after", "against", "all", "also", "am", "an", "and", "another", "any", "are", "as", "at", "be",
            "because", "been", "before", "between", "both", "but", "by", "came", "can", "come", "could", "did", "do",
            "don", "door", "down", "each", "even", "first", "for", "from", "get", "go", "good", "got", "great", "had",
            "has", "hat", "have", "he", "her", "here", "him", "his", "how", "if", "in", "into", "is", "it", "its",
            "just", "know", "last", "left", "like", "little", "ll", "long", "made", "make", "man", "many", "may", "me",
            "met", "might", "more", "most", "much", "must", "my", "never", "new", "no", "not", "now", "of", "off",
            "old", "on", "one", "only", "or", "other", "our", "out", "over", "own", "people", "re", "right", "said",
            "same", "see", "she", "should", "since", "so", "some", "state", "still", "such", "take", "than", "that",
            "the", "their", "them", "then", "there", "these", "they", "this", "those", "three", "through", "time",
            "to", "too", "two", "under", "up", "us", "use", "used", "ve", "very", "want", "war", "was", "way", "we",
            "well", "went", "were", "what", "when", "where", "which", "while", "who", "will", "with", "work", "world",
            "would", "year", "years", "you",
        ],
        letters: "",
    },
    // Catalan
    Other {
        frequent: &[
            "al", "amb", "aquest", "aquesta", "aquí", "cap", "com", "de", "del", "dels", "el", "els", "en", "entre",
            "era", "eren", "es", "fins", "ha", "havia", "hi", "la", "les", "li", "molt", "més", "ni", "no", "només",
            "on", "pel", "per", "però", "quan", "que", "sense", "ser", "seu", "seva", "si", "són", "també", "tenia",
            "tot", "un", "una", "va", "és",
        ],
        letters: "çèòï",
    },
    // Romanian
    Other {
        frequent: &[
            "această", "acest", "al", "ale", "am", "au", "care", "ce", "cu", "când", "că", "dar", "de", "din", "doar",
            "după", "ei", "era", "este", "fi", "fost", "iar", "la", "le", "lui", "mai", "nici", "nu", "pe", "pentru",
            "prin", "sau", "se", "sunt", "un", "unde", "în", "într", "și",
        ],
        letters: "șțăâîşţ",
    },
    // Czech
    Other {
        frequent: &[
            "aby", "aj", "ako", "ale", "ani", "bez", "bol", "bola", "by", "byl", "byla", "bylo", "byly", "být", "co",
            "do", "jak", "jako", "je", "jeho", "její", "jen", "jsem", "jsme", "jsou", "kde", "když", "keď", "která",
            "který", "ktorý", "len", "na", "nebo", "nebyl", "než", "nikdo", "od", "po", "pod", "pre", "pro", "před",
            "při", "se", "si", "som", "sú", "tak", "také", "tam", "toho", "už", "ve", "za", "ze", "že",
        ],
        letters: "řůěčšžýáíéúťď",
    },
    // Hungarian
    Other {
        frequent: &[
            "aki", "ami", "az", "azt", "be", "csak", "de", "egy", "el", "ez", "ezt", "fel", "ha", "hogy", "is", "itt",
            "ki", "között", "le", "lesz", "meg", "minden", "mint", "már", "még", "nem", "ott", "sem", "senki", "után",
            "vagy", "van", "volt", "és",
        ],
        letters: "áéíóöőúüű",
    },
    // Finnish
    Other {
        frequent: &[
            "ei", "en", "että", "hän", "hänen", "ja", "joka", "jos", "jossa", "kuin", "kun", "mitä", "mutta", "myös",
            "niin", "nyt", "ole", "oli", "olivat", "ollut", "on", "ovat", "se", "sen", "siellä", "sitten", "sitä",
            "tai", "tämä", "vain", "vielä",
        ],
        letters: "äö",
    },
    // Turkish
    Other {
        frequent: &[
            "ama", "bir", "bu", "bunu", "da", "daha", "de", "değil", "en", "gibi", "hem", "her", "ile", "için",
            "kadar", "ki", "ne", "olan", "olarak", "onu", "sonra", "var", "ve", "ya", "çok", "şu",
        ],
        letters: "çğışöü",
    },
    // Indonesian
    Other {
        frequent: &[
            "ada", "adalah", "akan", "atau", "bisa", "dalam", "dan", "dari", "dengan", "di", "ini", "itu", "juga",
            "kami", "karena", "ke", "mereka", "oleh", "pada", "saya", "sudah", "telah", "tersebut", "tidak", "untuk",
            "yang",
        ],
        letters: "",
    },
    // Afrikaans
    Other {
        frequent: &[
            "aan", "as", "by", "daar", "deur", "die", "dit", "een", "ek", "en", "haar", "het", "hulle", "hy", "in",
            "is", "kan", "maar", "met", "na", "net", "nie", "om", "ons", "op", "sal", "so", "sy", "te", "toe", "tot",
            "uit", "van", "vir", "waar", "was", "wat", "word",
        ],
        letters: "",
    },
    // Latin
    Other {
        frequent: &[
            "ab", "ac", "ad", "atque", "autem", "cum", "de", "eius", "enim", "erat", "esse", "est", "et", "etiam",
            "ex", "his", "hoc", "in", "ita", "nec", "neque", "non", "omnia", "omnis", "per", "quae", "quam", "qui",
            "quid", "quod", "sed", "si", "sunt", "unam", "ut",
        ],
        letters: "",
    },
    // Ukrainian
    Other {
        frequent: &[
            "а", "або", "але", "був", "була", "було", "бути", "в", "вже", "вона", "вони", "все", "від", "він", "де",
            "для", "до", "з", "за", "й", "його", "коли", "ми", "на", "не", "ніж", "по", "при", "під", "після", "року",
            "та", "так", "тільки", "у", "це", "ще", "що", "як", "якщо", "і", "із", "її",
        ],
        letters: "іїєґ",
    },
    // Bulgarian
    Other {
        frequent: &[
            "а", "ако", "бе", "беше", "в", "вече", "все", "го", "година", "да", "до", "за", "и", "или", "има", "като",
            "когато", "които", "който", "която", "където", "му", "на", "не", "ние", "но", "от", "още", "по", "под",
            "при", "с", "са", "само", "се", "си", "след", "така", "те", "това", "той", "тя", "че", "ще",
        ],
        letters: "ъщ",
    },
    // Serbian
    Other {
        frequent: &[
            "а", "ако", "али", "би", "била", "било", "био", "већ", "га", "године", "да", "до", "за", "и", "или",
            "када", "као", "која", "које", "који", "ми", "на", "не", "од", "он", "она", "они", "по", "под", "после",
            "са", "само", "све", "се", "су", "тако", "то", "у", "је", "још",
        ],
        letters: "јљњћђ",
    },
    // Macedonian
    Other {
        frequent: &[
            "а", "ако", "беше", "веќе", "во", "го", "година", "да", "дека", "до", "за", "и", "или", "има", "како",
            "кога", "кои", "кој", "која", "му", "на", "не", "ние", "но", "од", "по", "под", "сè", "само", "се", "си",
            "со", "таа", "така", "тие", "тоа", "тој", "уште", "ќе",
        ],
        letters: "ѓќѕј",
    },
    // Belarusian
    Other {
        frequent: &[
            "а", "або", "ад", "але", "была", "было", "быў", "года", "гэта", "да", "для", "з", "калі", "мы", "на", "не",
            "па", "пад", "пасля", "пры", "так", "толькі", "усе", "чым", "што", "яго", "як", "яна", "яны", "яшчэ", "ён",
            "і", "ў", "ўжо",
        ],
        letters: "ўіыэё",
    },
];
