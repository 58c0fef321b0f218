@_exported import Groundwork

extension CGRect {
  /// The rectangle as a dictionary, as an attachment's option expects it.
  public var dictionaryRepresentation: CFDictionary {
    ["X": Double(origin.x), "Y": Double(origin.y), "Width": Double(size.width), "Height": Double(size.height)] as NSDictionary
  }

  public init?(dictionaryRepresentation dictionary: CFDictionary) {
    let parts = ["X", "Y", "Width", "Height"].compactMap { (dictionary.object(forKey: $0) as? NSNumber)?.doubleValue }
    guard parts.count == 4 else { return nil }
    self.init(x: parts[0], y: parts[1], width: parts[2], height: parts[3])
  }
}

extension CGSize {
  public var dictionaryRepresentation: CFDictionary {
    ["Width": Double(width), "Height": Double(height)] as NSDictionary
  }
}

extension CGSize {
  public var debugDescription: String { "(\(width), \(height))" }
}

extension CGPoint {
  public var debugDescription: String { "(\(x), \(y))" }
}

extension CGRect {
  public var debugDescription: String { "(\(origin.x), \(origin.y), \(size.width), \(size.height))" }
}
