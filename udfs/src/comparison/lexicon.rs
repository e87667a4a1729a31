//! The words of English that show how a sentence is built, in ascending order.

/// Articles, prepositions, conjunctions, pronouns, auxiliaries and adverbs: words that an editor changes without
/// changing the meaning.
#[rustfmt::skip]
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "above", "across", "after", "again", "against", "ago", "aka", "all", "almost", "along", "already",
    "also", "although", "always", "am", "among", "an", "and", "another", "any", "anyone", "anything", "approximately",
    "are", "aren't", "around", "as", "at", "away", "back", "be", "because", "been", "before", "behold", "being",
    "below", "beneath", "beside", "besides", "between", "beyond", "both", "but", "by", "can", "can't", "cannot", "cf",
    "circa", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "done", "doth",
    "during", "e.g", "each", "either", "else", "enough", "etc", "even", "ever", "every", "everyone", "everything",
    "exactly", "except", "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "hast", "hath", "have",
    "haven't", "having", "he", "hence", "her", "here", "hers", "herself", "him", "himself", "his", "how", "however",
    "i", "i.e", "if", "in", "indeed", "instead", "into", "is", "isn't", "it", "its", "itself", "just", "least",
    "less", "let", "like", "lo", "may", "me", "might", "mine", "more", "moreover", "most", "much", "must", "my",
    "myself", "near", "nearly", "neither", "never", "nevertheless", "next", "no", "none", "nor", "not", "nothing",
    "now", "of", "off", "often", "on", "once", "one's", "only", "onto", "or", "other", "others", "otherwise", "our",
    "ours", "ourselves", "out", "over", "own", "per", "perhaps", "quite", "rather", "roughly", "s", "same", "shall",
    "shalt", "shan't", "she", "should", "shouldn't", "since", "so", "some", "somebody", "someone", "something",
    "sometimes", "soon", "still", "such", "t", "than", "that", "that's", "the", "thee", "their", "theirs", "them",
    "themselves", "then", "there", "there's", "thereby", "therefore", "these", "they", "thine", "this", "those",
    "thou", "though", "through", "throughout", "thus", "thy", "till", "to", "together", "too", "toward", "towards",
    "under", "until", "unto", "up", "upon", "us", "very", "via", "vs", "was", "wasn't", "we", "well", "were",
    "weren't", "what", "whatever", "when", "where", "whereas", "whether", "which", "while", "who", "whom", "whose",
    "why", "will", "with", "within", "without", "won't", "would", "wouldn't", "ye", "yea", "yes", "yet", "you",
    "your", "yours", "yourself", "yourselves",
];

/// Words that deny what the sentence would say without them.
#[rustfmt::skip]
pub(super) const NEGATIONS: &[&str] = &[
    "aren't", "can't", "cannot", "couldn't", "didn't", "doesn't", "don't", "hadn't", "hasn't", "haven't", "isn't",
    "neither", "never", "no", "none", "nor", "not", "shan't", "shouldn't", "wasn't", "weren't", "without", "won't",
    "wouldn't",
];

/// Words that begin a sentence whose subject is named elsewhere or later.
#[rustfmt::skip]
pub(super) const POINTING_WORDS: &[&str] = &[
    "although", "as", "because", "given", "here", "if", "since", "such", "that", "there", "these", "this", "those",
    "though", "unless", "until", "when", "whenever", "where", "while",
];

/// Words that stand before a noun. A word after one of them is no verb, even if it is spelled like one.
#[rustfmt::skip]
pub(super) const BEFORE_NOUNS: &[&str] = &[
    "a", "all", "an", "and", "any", "at", "between", "by", "each", "every", "for", "from", "her", "his", "in", "into",
    "its", "more", "most", "my", "no", "of", "on", "or", "other", "our", "over", "some", "than", "the", "their",
    "these", "this", "those", "to", "under", "with", "within", "without", "your",
];

/// Words that begin a clause within a sentence, whose verb is not the main verb.
#[rustfmt::skip]
pub(super) const BEFORE_CLAUSES: &[&str] = &[
    "although", "as", "because", "if", "since", "that", "though", "unless", "when", "whenever", "where", "which",
    "while", "who", "whom", "whose",
];

/// Words that begin a sentence together with its subject.
#[rustfmt::skip]
pub(super) const DETERMINERS: &[&str] = &[
    "a", "all", "an", "both", "each", "every", "her", "his", "its", "many", "most", "my", "no", "our", "several",
    "some", "that", "the", "their", "these", "this", "those", "your",
];

/// Words that stand before a name and can be left out.
#[rustfmt::skip]
pub(super) const TITLES: &[&str] = &[
    "admiral", "bishop", "captain", "cardinal", "colonel", "count", "countess", "dame", "doctor", "dr", "duke",
    "emperor", "empress", "father", "general", "governor", "judge", "king", "lady", "lieutenant", "lord", "major",
    "mayor", "miss", "mr", "mrs", "ms", "pope", "president", "prime", "prince", "princess", "prof", "professor",
    "queen", "saint", "senator", "sergeant", "sir", "sister", "st", "sultan",
];

/// Words that replace a subject that was named before.
#[rustfmt::skip]
pub(super) const PRONOUNS: &[&str] = &[
    "he", "i", "it", "she", "that", "these", "they", "this", "those", "we", "you",
];

/// Parts that are numbered within a text, so that the number belongs to no name.
#[rustfmt::skip]
pub(super) const PARTS_OF_TEXTS: &[&str] = &[
    "appendix", "article", "chapter", "clause", "figure", "note", "page", "part", "section", "step", "table",
];

/// Finite verbs as encyclopedias and manuals use them: the first of them ends the subject.
#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "accept", "accepts", "acquired", "acted", "acts", "added", "adds", "adopted", "affects", "aims", "allow",
    "allowed", "allows", "am", "announced", "appear", "appeared", "appears", "applied", "applies", "appointed", "are",
    "arrived", "asked", "attempted", "attended", "awarded", "based", "be", "became", "become", "becomes", "been",
    "began", "begat", "begins", "being", "belong", "belonged", "belongs", "born", "bought", "bring", "brings",
    "brought", "build", "builds", "built", "calls", "came", "can", "cannot", "captured", "carried", "caused",
    "causes", "change", "changed", "changes", "charts", "comes", "composed", "comprises", "considered", "consist",
    "consisted", "consists", "contain", "contained", "contains", "continued", "continues", "controls", "corresponds",
    "cost", "costs", "could", "covers", "created", "creates", "debuted", "decided", "declared", "dedicated",
    "defeated", "defined", "defines", "denotes", "depends", "describe", "described", "describes", "designed",
    "destroyed", "developed", "did", "died", "dies", "directed", "discovered", "discusses", "divided", "do", "does",
    "drew", "drops", "earned", "edited", "educated", "elected", "encourages", "ended", "ends", "entered", "enters",
    "established", "exists", "expects", "explains", "extended", "fails", "falls", "featured", "features", "fell",
    "fights", "finds", "finished", "flows", "followed", "follows", "formed", "found", "founded", "gained", "gains",
    "gave", "gets", "gives", "goes", "got", "governed", "graduated", "grew", "grows", "had", "has", "hated", "have",
    "having", "held", "helped", "helps", "hosted", "identified", "identifies", "implements", "improved", "included",
    "includes", "increased", "increases", "indicates", "inherits", "introduced", "invented", "is", "issued", "joined",
    "joins", "keeps", "kept", "killed", "knew", "known", "laid", "lasted", "launched", "leads", "led", "left", "lies",
    "listed", "lived", "lives", "loaded", "located", "looks", "lost", "made", "maintained", "makes", "marks",
    "married", "matches", "may", "means", "measured", "measures", "met", "might", "moved", "moves", "must", "named",
    "names", "needs", "occupied", "occurred", "occurs", "offers", "opened", "opens", "operated", "operates",
    "originated", "overrides", "owned", "owns", "passed", "performed", "performs", "played", "plays", "points",
    "possesses", "produced", "produces", "prohibits", "proposed", "protects", "provided", "provides", "published",
    "pushes", "raised", "ran", "ranks", "reached", "reads", "received", "receives", "recorded", "reduces", "referred",
    "refers", "reigned", "rejected", "released", "remained", "remains", "removed", "replaced", "replaces", "reports",
    "represented", "represents", "required", "requires", "resigned", "returned", "returns", "rises", "rode", "rose",
    "ruled", "runs", "said", "sang", "sat", "says", "seems", "seen", "sent", "served", "serves", "set", "sets",
    "settled", "shall", "should", "shows", "signed", "sits", "sold", "sought", "spake", "speaks", "specifies",
    "spent", "spoke", "sprang", "standing", "stands", "started", "starts", "stated", "states", "stood", "stops",
    "stored", "studied", "succeeded", "supplies", "supported", "supports", "swam", "switched", "switches", "taken",
    "takes", "taught", "tells", "took", "triggered", "turns", "used", "uses", "visited", "voted", "waits", "waives",
    "wants", "was", "went", "were", "will", "wins", "won", "worked", "works", "would", "writes", "written", "wrote",
    "yields",
];

/// Verbs that begin a sentence without a subject, as in manuals: “Return the length”, “Gets the length”.
#[rustfmt::skip]
pub(super) const COMMANDS: &[&str] = &[
    "add", "adds", "allow", "apply", "ask", "boot", "build", "builds", "call", "calls", "change", "check", "checks",
    "choose", "click", "close", "compare", "compute", "computes", "configure", "connect", "consider", "contain",
    "control", "convert", "converts", "copied", "copies", "copy", "create", "creates", "define", "delete", "deletes",
    "describe", "destroy", "destroys", "determine", "determines", "disable", "display", "displays", "download",
    "drop", "echo", "echoes", "emit", "emits", "emitted", "enable", "ensure", "enter", "execute", "extract",
    "extracts", "fetch", "find", "format", "generate", "get", "gets", "give", "identifies", "identify", "ignore",
    "initialize", "initializes", "insert", "inserts", "install", "keep", "list", "listed", "load", "look", "make",
    "mark", "modifies", "modify", "move", "note", "open", "opens", "parse", "perform", "pop", "pops", "press",
    "print", "prints", "probe", "push", "put", "query", "raise", "read", "reduce", "refuse", "register", "remove",
    "removes", "rename", "replace", "request", "reset", "restore", "retrieves", "return", "run", "save", "search",
    "see", "select", "selects", "send", "sends", "set", "sets", "show", "shown", "skip", "sort", "specified",
    "specify", "start", "stop", "store", "take", "tell", "test", "tests", "try", "turn", "update", "use", "verify",
    "wait", "write",
];

/// Numbers, months and days in words, each with the spelling in which it is compared.
#[rustfmt::skip]
pub(super) const NUMBERS: &[(&str, &str)] = &[
    ("apr", "april"), ("april", "april"), ("aug", "august"), ("august", "august"), ("billion", "1000000000"),
    ("billionth", "1000000000"), ("dec", "december"), ("december", "december"), ("dozen", "12"), ("eight", "8"),
    ("eighteen", "18"), ("eighteenth", "18"), ("eighth", "8"), ("eightieth", "80"), ("eighty", "80"),
    ("eleven", "11"), ("eleventh", "11"), ("feb", "february"), ("february", "february"), ("fifteen", "15"),
    ("fifteenth", "15"), ("fifth", "5"), ("fiftieth", "50"), ("fifty", "50"), ("first", "1"), ("five", "5"),
    ("fortieth", "40"), ("forty", "40"), ("four", "4"), ("fourteen", "14"), ("fourteenth", "14"), ("fourth", "4"),
    ("friday", "friday"), ("hundred", "100"), ("hundredth", "100"), ("jan", "january"), ("january", "january"),
    ("jul", "july"), ("july", "july"), ("jun", "june"), ("june", "june"), ("million", "1000000"),
    ("millionth", "1000000"), ("monday", "monday"), ("nine", "9"), ("nineteen", "19"), ("nineteenth", "19"),
    ("ninetieth", "90"), ("ninety", "90"), ("ninth", "9"), ("nov", "november"), ("november", "november"),
    ("oct", "october"), ("october", "october"), ("one", "1"), ("saturday", "saturday"), ("second", "2"),
    ("sep", "september"), ("sept", "september"), ("september", "september"), ("seven", "7"), ("seventeen", "17"),
    ("seventeenth", "17"), ("seventh", "7"), ("seventieth", "70"), ("seventy", "70"), ("six", "6"), ("sixteen", "16"),
    ("sixteenth", "16"), ("sixth", "6"), ("sixtieth", "60"), ("sixty", "60"), ("sunday", "sunday"), ("ten", "10"),
    ("tenth", "10"), ("third", "3"), ("thirteen", "13"), ("thirteenth", "13"), ("thirtieth", "30"), ("thirty", "30"),
    ("thousand", "1000"), ("thousandth", "1000"), ("three", "3"), ("thursday", "thursday"),
    ("trillion", "1000000000000"), ("trillionth", "1000000000000"), ("tuesday", "tuesday"), ("twelfth", "12"),
    ("twelve", "12"), ("twentieth", "20"), ("twenty", "20"), ("two", "2"), ("wednesday", "wednesday"), ("zero", "0"),
];

/// Returns true if `word` is one of `words`, which are in order.
pub(super) fn has(words: &[&str], word: &str) -> bool {
    words.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order_and_stand_once() {
        let lists = [
            FUNCTION_WORDS,
            NEGATIONS,
            POINTING_WORDS,
            BEFORE_NOUNS,
            BEFORE_CLAUSES,
            DETERMINERS,
            TITLES,
            PRONOUNS,
            PARTS_OF_TEXTS,
            VERBS,
            COMMANDS,
        ];
        for list in lists {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        assert!(NUMBERS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(NEGATIONS.iter().all(|word| has(FUNCTION_WORDS, word)));
    }
}
