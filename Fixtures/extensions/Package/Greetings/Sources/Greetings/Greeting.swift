/// A greeting with a name.
public func greeting(_ name: String) -> String {
  "Good morning, \(name)"
}
