-- Schema 2: the extended attributes of both sides of a change.
-- NULL: not read. Empty: no attributes. Otherwise the hash of the content that holds them.
ALTER TABLE change ADD COLUMN before_attributes BLOB;
ALTER TABLE change ADD COLUMN after_attributes BLOB;
CREATE INDEX change_by_before_attributes ON change (before_attributes) WHERE before_attributes IS NOT NULL;
CREATE INDEX change_by_after_attributes ON change (after_attributes) WHERE after_attributes IS NOT NULL;
