/// Distinct names, each with its place.
struct NameList {
  private(set) var names: [String] = []
  private var places: [String: Int] = [:]

  /// The name's place, which is a new one for a new name.
  mutating func place(_ name: String) -> Int {
    if let place = places[name] { return place }
    places[name] = names.count
    names.append(name)
    return names.count - 1
  }
}
