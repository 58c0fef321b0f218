// What `import Foundation` gives on Apple's platforms. Extensions compile with `import Groundwork`
// in its place, so that the declarations of this module come before Foundation's.
@_exported import Dispatch
@_exported import Foundation
@_exported import FoundationNetworking
