/// Finds what a mistyped word was meant to be.
public enum Nearest {
    /// The candidate with the fewest edits, if these are at most a third of the word's letters; the first one of equals.
    public static func match(for word: String, among candidates: [String]) -> String? {
        let limit = max(1, word.count / 3)
        var best: (word: String, edits: Int)?
        for candidate in candidates {
            let edits = edits(Array(word.utf8), Array(candidate.utf8))
            if edits <= limit, edits < best?.edits ?? .max { best = (candidate, edits) }
        }
        return best?.word
    }

    /// Insertions, deletions, replacements and swaps of neighbours (Damerau and Levenshtein).
    private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [[Int]](repeating: Array(0...right.count), count: left.count + 1)
        for i in 0..<left.count {
            rows[i + 1][0] = i + 1
            for j in 0..<right.count {
                let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
                var fewest = min(replaced, rows[i][j + 1] + 1, rows[i + 1][j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    fewest = min(fewest, rows[i - 1][j - 1] + 1)
                }
                rows[i + 1][j + 1] = fewest
            }
        }
        return rows[left.count][right.count]
    }
}
