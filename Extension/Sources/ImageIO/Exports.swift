// Extensions import ImageIO beside UIKit, and use none of its functions.
@_exported import CoreGraphics
