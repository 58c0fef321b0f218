import Foundation

/// Says in English how far a date is away.
open class RelativeDateTimeFormatter: Formatter, @unchecked Sendable {
  public enum DateTimeStyle: Int, Sendable {
    /// `1 day ago`
    case numeric = 0
    /// `yesterday`
    case named = 1
  }

  public enum UnitsStyle: Int, Sendable {
    /// `2 months ago`
    case full = 0
    /// `2 mo. ago`
    case short = 2
  }

  open var dateTimeStyle = DateTimeStyle.numeric
  open var unitsStyle = UnitsStyle.full
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var calendar: Calendar! = .current
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open var locale: Locale! = Locale(identifier: "en_US")

  /// The units from the longest on: their names, and how a day or more before, now and after is called.
  private static let units: [(component: Calendar.Component, name: String, short: String, before: String, now: String, after: String)] = [
    (.year, "year", "yr.", "last year", "this year", "next year"), (.month, "month", "mo.", "last month", "this month", "next month"),
    (.weekOfMonth, "week", "wk.", "last week", "this week", "next week"), (.day, "day", "day", "yesterday", "today", "tomorrow"),
    (.hour, "hour", "hr.", "", "this hour", ""), (.minute, "minute", "min.", "", "this minute", ""),
    (.second, "second", "sec.", "", "now", ""),
  ]

  public override init() {
    super.init()
  }

  public required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  open func localizedString(from dateComponents: DateComponents) -> String {
    let counts = Self.units.map { dateComponents.value(for: $0.component) }
    // The longest unit that is not zero, else the shortest one.
    let index = counts.firstIndex { $0 != nil && $0 != 0 } ?? counts.lastIndex { $0 != nil } ?? Self.units.count - 1
    return text(counts[index] ?? 0, index)
  }

  open func localizedString(fromTimeInterval timeInterval: TimeInterval) -> String {
    let now = Date()
    return localizedString(for: now.addingTimeInterval(timeInterval), relativeTo: now)
  }

  open func localizedString(for date: Date, relativeTo referenceDate: Date) -> String {
    localizedString(from: calendar.dateComponents(Set(Self.units.map(\.component)), from: referenceDate, to: date))
  }

  open override func string(for obj: Any?) -> String? {
    (obj as? Date).map { localizedString(for: $0, relativeTo: Date()) }
  }

  private func text(_ count: Int, _ index: Int) -> String {
    let unit = Self.units[index]
    if dateTimeStyle == .named, let name = [-1: unit.before, 0: unit.now, 1: unit.after][count], !name.isEmpty { return name }
    let isOne = count.magnitude == 1
    let name = unitsStyle == .short && unit.short != unit.name ? unit.short : unit.name + (isOne ? "" : "s")
    return count < 0 ? "\(count.magnitude) \(name) ago" : "in \(count) \(name)"
  }
}
