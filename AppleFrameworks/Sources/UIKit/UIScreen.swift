import CoreGraphics
import Groundwork

/// The screen of the simulated phone: that of an iPhone 15, in points.
///
/// Source: https://developer.apple.com/design/human-interface-guidelines/layout (393 × 852 at 3×).
open class UIScreen: NSObject, @unchecked Sendable {
  public static let main = UIScreen()

  open var bounds: CGRect { CGRect(x: 0, y: 0, width: 393, height: 852) }
  open var nativeBounds: CGRect { CGRect(x: 0, y: 0, width: 1_179, height: 2_556) }
  open var scale: CGFloat { 3 }
  open var nativeScale: CGFloat { 3 }
}

public enum UIUserInterfaceIdiom: Int, Sendable {
  case unspecified = -1
  case phone = 0
  case pad = 1
}

/// The simulated phone.
open class UIDevice: NSObject, @unchecked Sendable {
  public static let current = UIDevice()

  open var name: String { "iPhone" }
  open var model: String { "iPhone" }
  open var systemName: String { "iOS" }
  open var systemVersion: String { "18.0" }
  open var userInterfaceIdiom: UIUserInterfaceIdiom { .phone }
  open var identifierForVendor: UUID? { UUID(uuidString: "00000000-0000-4000-8000-000000000000") }
}
