import Foundation

// Names of Core Foundation, which Foundation for Linux does not export.

public typealias CFString = NSString
public typealias CFMutableString = NSMutableString
public typealias CFData = NSData
public typealias CFMutableData = NSMutableData
public typealias CFArray = NSArray
public typealias CFDictionary = NSDictionary
public typealias CFNumber = NSNumber
public typealias CFBoolean = NSNumber
public typealias CFURL = NSURL
public typealias CFError = NSError
public typealias CFUUID = NSUUID
public typealias CFAllocator = AnyObject
public typealias CFTypeRef = AnyObject
public typealias CFAbsoluteTime = Double
public typealias CFIndex = Int
public typealias OSStatus = Int32

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
public let noErr: OSStatus = 0

/// Memory comes from Swift.
public let kCFAllocatorDefault: CFAllocator? = nil

public func CFUUIDCreate(_ allocator: CFAllocator?) -> CFUUID {
  NSUUID()
}

public func CFUUIDCreateString(_ allocator: CFAllocator?, _ uuid: CFUUID) -> CFString {
  uuid.uuidString as NSString
}

/// Returns the seconds since 2001-01-01 00:00:00 UTC.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
  Date().timeIntervalSinceReferenceDate
}

/// Runs `body`. On Apple's platforms it also releases the objects of Objective-C.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
  try body()
}
