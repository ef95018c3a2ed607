import Synchronization

/// The metrics of a process: hands out handles, and renders all as Prometheus reads them.
///
/// Names begin with `hush_`, carry their base unit (`_seconds`, `_bytes`) and end in `_total` where they count; labels have few
/// values and never a token, a recipient or a notification's id. A name or label against the rules is a programmer's mistake and traps.
public final class Metrics: Sendable {
    /// Name and value pairs in a fixed order.
    public typealias Labels = [(name: String, value: String)]

    private enum Handle {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)

        var type: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    private struct Family {
        var help: String
        var type: String
        /// By label text, as `{stage="plan"}`.
        var series: [String: Handle]
    }

    private let families = Mutex<[String: Family]>([:])

    public init() {}

    /// The counter of this name and these labels; asked twice, the same one.
    public func counter(_ name: String, _ help: String, _ labels: Labels = []) -> Counter {
        precondition(name.hasSuffix("_total"), "counter \(name) must end in _total")
        guard case .counter(let counter) = handle(name, help, labels, make: { .counter(Counter()) }) else {
            preconditionFailure("\(name) is no counter")
        }
        return counter
    }

    public func gauge(_ name: String, _ help: String, _ labels: Labels = []) -> Gauge {
        precondition(!name.hasSuffix("_total"), "gauge \(name) must not end in _total")
        guard case .gauge(let gauge) = handle(name, help, labels, make: { .gauge(Gauge()) }) else {
            preconditionFailure("\(name) is no gauge")
        }
        return gauge
    }

    /// A histogram with upper bounds in the unit of its name; `_seconds` counts in nanoseconds inside.
    public func histogram(_ name: String, _ help: String, bounds: [Double], _ labels: Labels = []) -> Histogram {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "the bounds of \(name) must rise")
        let steps = name.hasSuffix("_seconds") ? 1e9 : 1
        let make = { Handle.histogram(Histogram(bounds: bounds, stepsPerUnit: steps)) }
        guard case .histogram(let histogram) = handle(name, help, labels, make: make) else {
            preconditionFailure("\(name) is no histogram")
        }
        return histogram
    }

    /// Ends a series, as that of a partition that went away; its handle may still be used and is not rendered.
    public func remove(_ name: String, _ labels: Labels) {
        families.withLock { families in
            families[name]?.series[Self.text(labels)] = nil
            if families[name]?.series.isEmpty == true { families[name] = nil }
        }
    }

    /// Everything in Prometheus' text format 0.0.4, in the order of names.
    public func render() -> String {
        let families = families.withLock { $0 }
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# HELP \(name) \(Self.escaped(family.help))\n# TYPE \(name) \(family.type)\n"
            for (labels, handle) in family.series.sorted(by: { $0.key < $1.key }) {
                switch handle {
                case .counter(let counter): text += "\(name)\(labels) \(counter.current)\n"
                case .gauge(let gauge): text += "\(name)\(labels) \(Self.number(gauge.current))\n"
                case .histogram(let histogram): text += Self.lines(of: histogram, name, labels)
                }
            }
        }
        return text
    }

    private func handle(_ name: String, _ help: String, _ labels: Labels, make: () -> Handle) -> Handle {
        precondition(Self.isName(name) && name.hasPrefix("hush_"), "\(name) is no name for a metric of hush")
        for label in labels { precondition(Self.isName(label.name), "\(label.name) is no name for a label") }
        let key = Self.text(labels)
        return families.withLock { families in
            if let known = families[name]?.series[key] { return known }
            let made = make()
            let type = families[name]?.type ?? made.type
            precondition(type == made.type, "\(name) is a \(type) already")
            families[name, default: Family(help: help, type: made.type, series: [:])].series[key] = made
            return made
        }
    }

    private static func lines(of histogram: Histogram, _ name: String, _ labels: String) -> String {
        let (bounds, counts, sum) = histogram.snapshot
        let inner = labels.dropFirst().dropLast()
        let prefix = inner.isEmpty ? "" : "\(inner),"
        let limits = bounds.map(number) + ["+Inf"]
        let buckets = zip(limits, counts).map { "\(name)_bucket{\(prefix)le=\"\($0)\"} \($1)\n" }
        return buckets.joined() + "\(name)_sum\(labels) \(number(sum))\n\(name)_count\(labels) \(counts.last ?? 0)\n"
    }

    private static func text(_ labels: Labels) -> String {
        if labels.isEmpty { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.append(character)
            }
        }
    }

    /// Whole numbers without a fraction, as Prometheus' own client libraries write them.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private static func isName(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, letters.contains(first) else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    }
}
