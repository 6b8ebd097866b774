-- V009: what administration by procedures needs. Applied once.

-- Their sums are numeric now, which no view can be replaced for: install.sql creates them again.
DROP VIEW IF EXISTS omd_report.cumulative_load_time;
DROP VIEW IF EXISTS omd_report.throughput_per_day;

-- A Next Run Indicator that is none is refused as an error of OMD, in a direct UPDATE too. The test
-- of the values comes first, so no run ever calls the function; its file replaces this first body.
CREATE OR REPLACE FUNCTION omd._refuse_next_run_indicator(
    p_value text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT p_value IS NULL;
END;

ALTER DOMAIN omd.next_run_indicator_code DROP CONSTRAINT ck_next_run_indicator_code;
-- NOT VALID: the values that are there have passed the former test.
ALTER DOMAIN omd.next_run_indicator_code ADD CONSTRAINT ck_next_run_indicator_code
CHECK (value IN ('P', 'R', 'C') OR omd._refuse_next_run_indicator(value)) NOT VALID;
