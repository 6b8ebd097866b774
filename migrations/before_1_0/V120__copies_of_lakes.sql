-- V120: lake: what belongs to the installation that this one is a copy of. Applied once.

CREATE TABLE omd_lake.closed_location (
    location text NOT NULL,
    closed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_closed_location PRIMARY KEY (location)
);
COMMENT ON TABLE omd_lake.closed_location IS
'The locations of the namespaces when this database was confirmed as a copy: the other '
'installation writes there, so this one does not.';
COMMENT ON COLUMN omd_lake.closed_location.location IS 'The location.';
COMMENT ON COLUMN omd_lake.closed_location.closed_datetime IS 'When it was closed.';
