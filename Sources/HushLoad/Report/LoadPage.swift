import Glibc
import HushBase

/// The report as one page of HTML that needs nothing else: no script, no style or picture from elsewhere.
public enum LoadPage {
    public static func html(_ report: LoadReport) -> String {
        let result = report.result
        let verdicts = result.verdicts(report.thresholds).map { threshold, value, holds in
            let figure =
                value.map { threshold.figure.isTime ? seconds($0) : HistogramText.fixed($0, 0) } ?? "not measured"
            let mark = holds ? "<td class=\"good\">✓ holds</td>" : "<td class=\"bad\">✗ fails</td>"
            return "<tr>\(mark)<td>\(escaped("\(threshold)"))</td><td>\(figure)</td></tr>"
        }.joined(separator: "\n")
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(escaped(report.title))</title>
            <style>\(style)</style></head><body>
            <h1>\(escaped(report.title))</h1>
            \(verdicts.isEmpty ? "" : "<h2>Thresholds</h2><table id=\"thresholds\">\(verdicts)</table>")
            <h2>Latency by percentile</h2>
            \(percentiles(result))
            <h2>Latency over time: notifications accepted in each second</h2>
            \(overTime(result))
            <h2>Rate and lag over time</h2>
            \(rates(result))
            <h2>Outcomes</h2>
            \(bars(result.outcomes))
            <h2>Decisions</h2>
            \(bars(result.decisions))
            <h2>In words</h2>
            <pre>\(escaped(report.text))</pre>
            </body></html>

            """
    }

    private static let style = """
        body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
        h1{font-size:1.5rem}h2{font-size:1.05rem;margin-top:2rem}pre{overflow:auto;background:#f4f6f8;padding:1rem}
        table{border-collapse:collapse}td{padding:.2rem 1rem .2rem 0}.good{color:#0a7d3c}.bad{color:#b3261e}
        svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#56606d}.grid{stroke:#e3e7ec}
        .a{stroke:#1f6feb;fill:none;stroke-width:2}.b{stroke:#d1590f;fill:none;stroke-width:2}
        .c{stroke:#7a3fc0;fill:none;stroke-width:2}.d{stroke:#0a7d3c;fill:none;stroke-width:2}
        .e{stroke:#b08800;fill:none;stroke-width:2}.bar{fill:#1f6feb}
        """

    private static let classes = ["a", "b", "c", "d", "e"]

    /// Each halving of the rest to 100 % takes the same width, as HdrHistogram's plots have it.
    private static func percentiles(_ result: LoadResult) -> String {
        let halvings = (0...52).map { Double($0) / 4 }
        var lines: [SVGPlot.Line] = []
        for (index, way) in Figure.Way.allCases.enumerated() {
            guard let histogram = result.tracker.histograms[way], histogram.count > 0 else { continue }
            let points = halvings.compactMap { halving -> SVGPlot.Point? in
                let share = 1 - exp2(-halving)
                // Beyond what so many values can tell.
                guard halving == 0 || (1 - share) * Double(histogram.count) >= 0.5 else { return nil }
                return SVGPlot.Point(x: halving, y: Double(histogram.nanos(atQuantile: share)) / 1e6)
            }
            lines.append(SVGPlot.Line(name: LoadReport.name(way), style: classes[index], points: points))
        }
        let ticks = [(0.0, "0%"), (1, "50%"), (3.3219, "90%"), (6.6439, "99%"), (9.9658, "99.9%"), (13.2877, "99.99%")]
        return SVGPlot(lines: lines, unit: "ms", xTicks: ticks, label: "latency by percentile").svg
    }

    private static func overTime(_ result: LoadResult) -> String {
        let all = result.tracker.seconds.enumerated()
        func line(_ name: String, _ style: String, _ value: (LoadTracker.Second) -> Int64) -> SVGPlot.Line {
            SVGPlot.Line(
                name: name, style: style,
                points: all.filter { $0.element.accepted > 0 }.map {
                    SVGPlot.Point(x: Double($0.offset + 1), y: Double(value($0.element)) / 1e6)
                })
        }
        let lines = [line("p50", "a", \.p50), line("p99", "b", \.p99), line("max", "c", \.max)]
        return SVGPlot(lines: lines, unit: "ms", xTicks: timeTicks(result), label: "latency over time").svg
    }

    private static func rates(_ result: LoadResult) -> String {
        let all = result.tracker.seconds.enumerated()
        func line(_ name: String, _ style: String, _ value: (LoadTracker.Second) -> Int) -> SVGPlot.Line {
            SVGPlot.Line(
                name: name, style: style,
                points: all.map { SVGPlot.Point(x: Double($0.offset + 1), y: Double(value($0.element))) })
        }
        let lines = [
            line("sent a second", "a", \.sent), line("accepted a second", "d", \.accepted),
            line("sent, not planned", "b", \.lag), line("sent, not accepted", "c", \.open),
        ]
        return SVGPlot(lines: lines, unit: "", xTicks: timeTicks(result), label: "rate and lag over time").svg
    }

    private static func timeTicks(_ result: LoadResult) -> [(Double, String)] {
        let count = max(1, result.tracker.seconds.count)
        let step = [1, 2, 5, 10, 30, 60, 300, 900].first { count / $0 <= 12 } ?? 3600
        return stride(from: 0, through: count, by: step).map { (Double($0), "\($0) s") }
    }

    private static func bars(_ counts: [String: Int]) -> String {
        let most = Double(counts.values.max() ?? 1)
        let rows = counts.sorted { $0.value > $1.value }.enumerated().map { index, entry in
            let y = index * 22
            let width = HistogramText.fixed(max(1, Double(entry.value) / most * 480), 1)
            return "<text x=\"0\" y=\"\(y + 14)\">\(escaped(entry.key))</text>"
                + "<rect class=\"bar\" x=\"130\" y=\"\(y + 3)\" width=\"\(width)\" height=\"14\"/>"
                + "<text x=\"620\" y=\"\(y + 14)\">\(entry.value)</text>"
        }.joined(separator: "\n")
        return "<svg viewBox=\"0 0 760 \(max(1, counts.count) * 22)\" role=\"img\" aria-label=\"counts\">\(rows)</svg>"
    }

    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
    }
}
