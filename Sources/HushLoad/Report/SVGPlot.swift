/// A plot of a few lines as SVG, drawn by hand: axes from zero, a grid, a legend.
struct SVGPlot {
    struct Point: Hashable {
        var x: Double
        var y: Double
    }

    struct Line {
        var name: String
        /// A class of the page's style.
        var style: String
        var points: [Point]
    }

    var lines: [Line]
    var unit: String
    var xTicks: [(Double, String)]
    /// What those hear who do not see it.
    var label: String

    private static let width = 760.0
    private static let height = 280.0
    private static let left = 70.0
    /// Half of the last label of the axis stands in it.
    private static let margin = 30.0
    private static let top = 24.0
    private static let bottom = 30.0

    var svg: String {
        let points = lines.flatMap(\.points)
        let right = max(points.map(\.x).max() ?? 1, xTicks.map(\.0).max() ?? 1, 1e-9)
        let steps = Self.steps(upTo: points.map(\.y).max() ?? 1)
        let highest = steps.last ?? 1
        func x(_ value: Double) -> String {
            HistogramText.fixed(Self.left + value / right * (Self.width - Self.left - Self.margin), 1)
        }
        func y(_ value: Double) -> String {
            HistogramText.fixed(
                Self.top + (1 - value / highest) * (Self.height - Self.top - Self.bottom), 1)
        }
        var text = "<svg viewBox=\"0 0 760 280\" role=\"img\" aria-label=\"\(LoadPage.escaped(label))\">\n"
        for step in steps {
            text += "<line class=\"grid\" x1=\"\(x(0))\" x2=\"\(x(right))\" y1=\"\(y(step))\" y2=\"\(y(step))\"/>"
            let value = HistogramText.fixed(step, step >= 10 || step == 0 ? 0 : 2)
            text += "<text x=\"64\" y=\"\(y(step))\" text-anchor=\"end\" dy=\"4\">\(value) \(unit)</text>\n"
        }
        for (value, name) in xTicks where value <= right {
            text += "<text x=\"\(x(value))\" y=\"270\" text-anchor=\"middle\">\(LoadPage.escaped(name))</text>\n"
        }
        var legend = Self.left
        for line in lines where !line.points.isEmpty {
            let path = line.points.map { "\(x($0.x)),\(y($0.y))" }.joined(separator: " ")
            text += "<polyline class=\"\(line.style)\" points=\"\(path)\"/>\n"
            let start = HistogramText.fixed(legend, 0)
            text +=
                "<line class=\"\(line.style)\" x1=\"\(start)\" x2=\"\(HistogramText.fixed(legend + 18, 0))\" y1=\"10\" y2=\"10\"/>"
            text +=
                "<text x=\"\(HistogramText.fixed(legend + 24, 0))\" y=\"14\">\(LoadPage.escaped(line.name))</text>\n"
            legend += 38 + Double(line.name.count) * 5.6
        }
        return text + "</svg>"
    }

    /// Round numbers from zero to what holds the highest value, five or so.
    static func steps(upTo highest: Double) -> [Double] {
        guard highest > 0, highest.isFinite else { return [0, 1] }
        var size = 1.0
        while size * 5 < highest { size *= 10 }
        while size * 0.5 >= highest { size /= 10 }
        let step = [0.1, 0.2, 0.25, 0.5, 1.0].map { $0 * size }.first { $0 * 5 >= highest } ?? size
        return (0...5).map { Double($0) * step }.filter { $0 - step < highest }
    }
}
