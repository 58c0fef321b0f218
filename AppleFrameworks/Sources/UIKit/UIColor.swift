import CoreGraphics
import Groundwork

open class UIColor: NSObject, @unchecked Sendable {
  public let cgColor: CGColor

  public init(cgColor: CGColor) {
    self.cgColor = cgColor
    super.init()
  }

  public convenience init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    self.init(cgColor: CGColor(red: red, green: green, blue: blue, alpha: alpha))
  }

  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  public convenience init(hue: CGFloat, saturation: CGFloat, brightness: CGFloat, alpha: CGFloat) {
    // Each component is brightest at its own place of the circle, and falls to both sides.
    func component(_ place: CGFloat) -> CGFloat {
      let distance = (place + hue * 6).truncatingRemainder(dividingBy: 6)
      return brightness * (1 - saturation * max(0, min(distance, 4 - distance, 1)))
    }
    self.init(red: component(5), green: component(3), blue: component(1), alpha: alpha)
  }

  private convenience init(_ red: Int, _ green: Int, _ blue: Int) {
    self.init(red: CGFloat(red) / 255, green: CGFloat(green) / 255, blue: CGFloat(blue) / 255, alpha: 1)
  }

  open func withAlphaComponent(_ alpha: CGFloat) -> UIColor {
    let parts = cgColor.parts.map { CGFloat($0) }
    return UIColor(red: parts[0], green: parts[1], blue: parts[2], alpha: alpha)
  }

  @discardableResult
  open func getRed(
    _ red: UnsafeMutablePointer<CGFloat>?, green: UnsafeMutablePointer<CGFloat>?, blue: UnsafeMutablePointer<CGFloat>?,
    alpha: UnsafeMutablePointer<CGFloat>?
  ) -> Bool {
    for (place, part) in zip([red, green, blue, alpha], cgColor.parts) { place?.pointee = CGFloat(part) }
    return true
  }

  open func set() {
    setFill()
    setStroke()
  }

  open func setFill() { UIGraphicsGetCurrentContext()?.setFillColor(cgColor) }
  open func setStroke() { UIGraphicsGetCurrentContext()?.setStrokeColor(cgColor) }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UIColor)?.cgColor == cgColor
  }

  open override var hash: Int { cgColor.hashValue }

  // Source: https://developer.apple.com/documentation/uikit/standard-colors
  open class var black: UIColor { UIColor(white: 0, alpha: 1) }
  open class var darkGray: UIColor { UIColor(white: 1 / 3, alpha: 1) }
  open class var gray: UIColor { UIColor(white: 0.5, alpha: 1) }
  open class var lightGray: UIColor { UIColor(white: 2 / 3, alpha: 1) }
  open class var white: UIColor { UIColor(white: 1, alpha: 1) }
  open class var clear: UIColor { UIColor(white: 0, alpha: 0) }
  open class var red: UIColor { UIColor(255, 0, 0) }
  open class var green: UIColor { UIColor(0, 255, 0) }
  open class var blue: UIColor { UIColor(0, 0, 255) }
  open class var cyan: UIColor { UIColor(0, 255, 255) }
  open class var yellow: UIColor { UIColor(255, 255, 0) }
  open class var magenta: UIColor { UIColor(255, 0, 255) }
  open class var orange: UIColor { UIColor(red: 1, green: 0.5, blue: 0, alpha: 1) }
  open class var purple: UIColor { UIColor(red: 0.5, green: 0, blue: 0.5, alpha: 1) }
  open class var brown: UIColor { UIColor(red: 0.6, green: 0.4, blue: 0.2, alpha: 1) }

  // The light variants of iOS 18. Source: https://developer.apple.com/design/human-interface-guidelines/color
  open class var systemRed: UIColor { UIColor(255, 59, 48) }
  open class var systemOrange: UIColor { UIColor(255, 149, 0) }
  open class var systemYellow: UIColor { UIColor(255, 204, 0) }
  open class var systemGreen: UIColor { UIColor(52, 199, 89) }
  open class var systemBlue: UIColor { UIColor(0, 122, 255) }
  open class var systemPurple: UIColor { UIColor(175, 82, 222) }
  open class var systemPink: UIColor { UIColor(255, 45, 85) }
  open class var systemGray: UIColor { UIColor(142, 142, 147) }
  open class var systemBackground: UIColor { .white }
  open class var label: UIColor { .black }
}
